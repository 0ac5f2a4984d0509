"""An installed copy without extras: every module loads, and what an extra would bring is said in one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.bare_environment import link_dependencies
from support.places import ROOT
from support.small_corpus import make_corpus

pytestmark = pytest.mark.slow

PASSAGES = [{"_id": "p1", "title": "", "text": "The watchdog resets the board."}]
QUERIES = [{"_id": "q1", "text": "What resets the board?", "metadata": {"expected_response": "The watchdog."}}]
ANSWERS = [{"query_id": "q1", "agent": "ours", "answer": "The watchdog does.", "passages": ["p1"]}]

BEIR = ["--corpus", "passages.jsonl", "--queries", "queries.jsonl", "--out", "out.trec"]
JUDGE = ["judge", "--answers", "a.jsonl", "--passages", "passages.jsonl", "--queries", "queries.jsonl"]
JUDGE += ["--out", "out.jsonl", "--model"]

NEEDS = {
    "local": [
        ["search", *BEIR, "--retriever", "knn"],
        ["search", *BEIR, "--retriever", "hybrid"],
        ["consistency", "--answers", "a.jsonl", "--answers", "b.jsonl"],
        ["model", "fetch", "local:hf:owner/repo/file.gguf"],
        [*JUDGE, "local:smollm2-135m", "--with", "groundedness"],
        [*JUDGE, "file:m", "--with", "hallucination"],
        [*JUDGE, "file:m", "--with", "golden_similarity"],
        ["run", "mine", "--model", "local:smollm2-135m"],
    ],
    "opensearch": [
        ["search", *BEIR, "--engine", "opensearch", "--url", "http://127.0.0.1:9"],
        ["opensearch", "list", "--url", "http://127.0.0.1:9"],
    ],
    "remote": [["run", "s3://bucket/folder"], ["run", "mine", "--results", "gs://bucket/folder"]],
    "dask": [["ingest", "dask"]],
    "ray": [["ingest", "ray"]],
}
"""What an extra brings, as it is asked for."""

EVERY_MODULE = """
import importlib, pkgutil, ragassay
names = [found.name for found in pkgutil.walk_packages(ragassay.__path__, "ragassay.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""
EVERY_COMMAND = """
import contextlib, io, json, sys
from ragassay.cli import main
said = []
for arguments in json.load(sys.stdin):
    with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()):
        status = main(arguments)
    said.append([status, errors.getvalue().splitlines()[-1]])
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `pip install ragassay` brings, to be put on the path of a Python that has nothing else."""
    folder = link_dependencies(tmp_path_factory.mktemp("bare") / "packages")
    (folder / "ragassay").symlink_to(ROOT / "ragassay")
    assert not (folder / "torch").exists() and not (folder / "opensearchpy").exists()
    return folder


def run_bare(bare: Path, code: str, folder: Path, stdin: str = "") -> str:
    environment = os.environ | {"PYTHONPATH": str(bare)}
    command = [sys.executable, "-S", "-c", code]
    done = subprocess.run(
        command, cwd=folder, env=environment, input=stdin, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def on_a_cluster(folder: Path, backend: str) -> None:
    corpus = make_corpus(folder / backend, "file:m")
    text = (corpus / "experiment.toml").read_text()
    there = f'[run]\nbackend = "{backend}"\nscheduler = "tcp://127.0.0.1:9"'
    (corpus / "experiment.toml").write_text(text.replace("[run]", there))


def test_every_module_loads_without_an_extra(bare: Path, tmp_path: Path):
    assert int(run_bare(bare, EVERY_MODULE, tmp_path)) > 200


def test_what_an_extra_would_bring_is_said_in_one_sentence(bare: Path, tmp_path: Path):
    make_corpus(tmp_path / "mine", "file:m")
    on_a_cluster(tmp_path, "dask")
    on_a_cluster(tmp_path, "ray")
    for name, rows in {"passages": PASSAGES, "queries": QUERIES, "a": ANSWERS, "b": ANSWERS}.items():
        write_lines(tmp_path / f"{name}.jsonl", rows)
    asked = [(extra, arguments) for extra, commands in NEEDS.items() for arguments in commands]
    said = json.loads(run_bare(bare, EVERY_COMMAND, tmp_path, json.dumps([arguments for _, arguments in asked])))
    for (extra, arguments), (status, sentence) in zip(asked, said, strict=True):
        assert status == 2, (arguments, sentence)
        assert sentence.startswith("ragassay: "), arguments
        assert f"needs the extra '{extra}'" in sentence, (arguments, sentence)
        assert sentence.endswith(f'install it with `pip install "ragassay[{extra}]"`'), (arguments, sentence)
