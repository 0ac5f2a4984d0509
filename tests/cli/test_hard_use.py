"""Killed at random moments, a full disk, two runs on one folder: nothing is lost, torn, or paid for twice."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.full_disk import files_of_at_most
from support.json_lines import records
from support.loopback.behaviours import hang
from support.loopback.server import ScriptedServer
from support.places import ROOT
from support.small_corpus import answer_everything, make_corpus

from benchmarks.speed.soak import AT_ONCE, material, soak
from ragassay.calls.reply_cache import ReplyCache
from ragassay.retrieval.rankers.embedding_cache import VectorStore, on_disk


@pytest.fixture(autouse=True)
def _where_benchmarks_are_found(in_a_folder_of_its_own: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the processes that are started, which also find what is compiled and write none of it to a full disk."""
    monkeypatch.chdir(ROOT)


LAST_ERROR = "all that was written before is whole, make room and run again"


def ragassay(*words: object, before: Callable[[], None] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ragassay", *map(str, words)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, preexec_fn=before)


@pytest.mark.slow
def test_killed_at_random_moments_every_pair_has_one_record_and_no_reply_is_paid_for_twice(tmp_path: Path):
    made = soak(tmp_path, 100, 2, say=lambda line: None)
    assert made.sound and len(made.rows) == 110
    assert made.twice == 0 and len(made.in_flight) == 2 and max(made.in_flight) <= AT_ONCE
    assert all((row.label is None) != (row.error is None) for row in made.rows)


def test_a_reply_that_does_not_fit_on_the_disk_leaves_no_part_of_a_line(tmp_path: Path):
    cache = ReplyCache(tmp_path)
    cache.put("a" * 64, {"choices": []}, 0.1, "received")
    before = (tmp_path / "received.jsonl").read_bytes()
    with files_of_at_most(len(before) + 50), pytest.raises(OSError, match="too large") as full:
        cache.put("b" * 64, {"choices": ["x" * 100]}, 0.1, "received")
    assert full.value.filename == str(tmp_path / "received.jsonl")
    assert (tmp_path / "received.jsonl").read_bytes() == before and cache.get("b" * 64) is None
    cache.put("c" * 64, {"choices": []}, 0.1, "received")
    assert len(ReplyCache(tmp_path)) == 2


def test_vectors_that_do_not_fit_on_the_disk_are_an_error_and_not_a_crash():
    with files_of_at_most(20_000):
        with pytest.raises(OSError, match="too large") as full:
            on_disk((1000, 384))
        assert full.value.filename == tempfile.gettempdir()
        store = VectorStore()
        store.add([b"a"], np.ones((1, 384), np.float16))
        with pytest.raises(OSError, match="too large") as full:
            store.add([bytes([number]) for number in range(200)], np.ones((200, 384), np.float16))
    store.add([b"b"], np.full((1, 384), 2.0, np.float16))
    assert full.value.filename == tempfile.gettempdir() and len(store) == 2
    assert store[b"a"].tolist() == [1.0] * 384 and store[b"b"].tolist() == [2.0] * 384


@pytest.mark.slow
def test_on_a_full_disk_it_says_so_and_goes_on_when_there_is_room(tmp_path: Path):
    with ScriptedServer("openai", answer_everything) as server:
        workspace = material(tmp_path / "mine", tmp_path / "results", server.base_url, 100)
        words = ("judge", workspace.corpus, "--results", workspace.results)
        limits = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (20_000, 20_000))
        first = ragassay(*words, before=limits)
        said = first.communicate()[1].strip().split("\n")[-1]
        assert first.returncode == 2, said
        file = workspace.replies / "received-judge.jsonl"
        assert said == f"ragassay: {file}: cannot be written (File too large); {LAST_ERROR}"
        kept = file.read_text()
        n_kept = len([json.loads(line) for line in kept.splitlines()])
        assert kept.endswith("\n") and n_kept and not workspace.relevance.exists()
        assert len(server.requests) - n_kept <= AT_ONCE
        asked = len(server.requests)
        assert ragassay(*words).wait() == 0
        assert len(server.requests) - asked == 110 - n_kept
        assert len(records(workspace.relevance)) == 100


def test_a_second_run_on_the_same_results_says_so_and_stops(tmp_path: Path):
    with ScriptedServer("openai", [hang()]) as server:
        corpus, results = make_corpus(tmp_path / "mine", "openai:m", server.base_url), tmp_path / "results"
        first = ragassay("run", corpus, "--results", results)
        assert first.stderr is not None
        while "questions: running" not in first.stderr.readline():
            assert first.poll() is None
        second = ragassay("run", corpus, "--results", results)
        said = second.communicate()[1]
        first.kill()
        first.communicate()
    assert second.returncode == 2
    assert said == f"ragassay: {results}: another run is writing here; wait for it\n"
    assert (results / "pages.jsonl").exists() and not list(results.rglob("*.part"))
