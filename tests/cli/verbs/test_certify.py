"""`ragassay certify`: over a screening with real and written queries, and what it says where it cannot."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import write_lines
from support.results_folder import results_folder, scored

from ragassay.cli import main
from ragassay.experiment.workspace import Workspace
from ragassay.records import Page, Passage
from ragassay.trec import write_run

N_PAGES, REAL, WRITTEN = 40, 12, 40
SKILLS = {"words": 0.2, "words-b": 0.25, "meaning": 0.8, "meaning-b": 0.85}
"""Variant to how often it finds the evidence first."""

EXPERIMENT = '[questions]\nsource = "own"\n[answer]\nmodel = "openai:m"\n[judge]\nmodel = "openai:m"\n'


def query(name: str, page: int, **metadata: Any) -> dict[str, Any]:
    evidence = [{"doc": "a.pdf", "first_page": page, "last_page": page}]
    return {"_id": name, "text": f"What of {name}?", "metadata": {"evidence": evidence, **metadata}}


def screened(root: Path, n_real: int = REAL, n_written: int = WRITTEN, **failed: str) -> Workspace:
    """A folder in which four variants were screened. failed: variant to the reason for which it has no q0."""
    pages = [Page(doc="a.pdf", page=n, text=f"Register {n} is set by bit {n}.") for n in range(1, N_PAGES + 1)]
    ids, start, passages = [f"p{n}" for n in range(1, N_PAGES + 1)], 0, []
    for name, page in zip(ids, pages, strict=True):
        where = {"doc": "a.pdf", "first_page": page.page, "last_page": page.page}
        place = {"start": start, "end": start + len(page.text)}
        passages.append(Passage(id=name, text=page.text, metadata=where | place))
        start += len(page.text) + 1
    workspace = results_folder(root, EXPERIMENT, pages=pages, passages=passages)
    real = [query(f"q{n}", 1 + n) for n in range(n_real)]
    written = [query(f"w{n}", 1 + n % N_PAGES, model="m", section=f"s{n // 2}") for n in range(n_written)]
    write_lines(workspace.queries, [*real, *written])
    chance, runs = random.Random(7), []
    for variant, skill in SKILLS.items():
        found = {}
        for row in (*real, *written):
            right = f"p{row['metadata']['evidence'][0]['first_page']}"
            wrong = [one for one in ids if one != right][:5]
            found[row["_id"]] = scored([right, *wrong] if chance.random() < skill else wrong)
        errors = {"q0": failed[variant]} if variant in failed else {}
        write_run(workspace.screening / f"{variant}.trec", found, variant)
        run = {"variant": variant, "table": variant, "settings": {"kind": variant.removesuffix("-b")}, "k": 5}
        more = {"tokens": None, "n": len(found), "n_failed": len(errors), "errors": errors, "n_passages": N_PAGES}
        runs.append(run | more)
    write_lines(workspace.screening_runs, runs)
    return workspace


def certify(workspace: Workspace, *options: str) -> int:
    return main(["certify", str(workspace.corpus), "--results", str(workspace.results), *options])


def test_families_that_differ_are_decided_and_near_ties_are_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    workspace = screened(tmp_path)
    assert certify(workspace) == 0
    shown = capsys.readouterr().out
    found = json.loads(workspace.certificate.read_text())
    assert (found["n_real"], found["n_written"], found["n_failed"]) == (12, 40, 0)
    between = next(row for row in found["families"] if row["a"] != row["b"])
    assert (between["a"], between["b"], between["n_pairs"], between["n_decided"]) == ("meaning", "words", 4, 4)
    assert (between["n_first"], between["n_second"]) == (4, 0)
    pairs = {(row["a"], row["b"]): row for row in found["pairs"]}
    assert pairs["words", "meaning"]["verdict"] == "b" and pairs["words", "meaning"]["difference"]["ci_high"] < 0
    assert "meaning against words: 4 of 4 pairs are decided, all for meaning" in shown
    assert found["expected_wrong"] <= found["level"] == 0.1


def test_the_same_seed_gives_the_same_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    workspace = screened(tmp_path)
    said = []
    for seed in ("1", "1", "2"):
        assert certify(workspace, "--json", "--seed", seed) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != said[2]
    assert json.loads(said[2]) == json.loads(workspace.certificate.read_text())


def test_a_query_on_which_a_variant_failed_takes_no_part_and_is_counted(tmp_path: Path):
    workspace = screened(tmp_path, words="the model refused")
    assert certify(workspace) == 0
    found = json.loads(workspace.certificate.read_text())
    assert (found["n_real"], found["n_failed"]) == (11, 1)
    assert all(row["difference"]["n"] == 11 for row in found["pairs"])


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((0, 40), "has no real query with evidence"),
        ((1, 40), "has 1 real query on which every variant has a value; a certificate needs 5"),
        ((4, 40), "has 4 real queries on which"),
        ((12, 0), "has no written query with evidence"),
        ((12, 8), "has written queries from 4 sections on which"),
        ((1, 0), "has no written query with evidence"),
    ],
)
def test_too_few_queries_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], counts: tuple[int, int], said: str
):
    workspace = screened(tmp_path, *counts)
    assert certify(workspace) == 2
    error = capsys.readouterr().err
    assert said in error and "queries.jsonl" in error and "Traceback" not in error
    assert not workspace.certificate.exists()


def test_a_real_query_about_a_document_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    workspace = screened(tmp_path)
    rows = [json.loads(line) for line in workspace.queries.read_text().splitlines()]
    rows[3]["metadata"]["evidence"][0]["doc"] = "other.pdf"
    write_lines(workspace.queries, rows)
    assert certify(workspace) == 2
    error = capsys.readouterr().err
    assert "other.pdf" in error and "queries.jsonl:4" in error and not workspace.certificate.exists()


def test_without_a_screening_and_with_a_level_out_of_range(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    workspace = screened(tmp_path)
    assert certify(workspace, "--level", "0.5") == 2
    assert "--level is 0.5" in capsys.readouterr().err
    workspace.screening_runs.unlink()
    assert certify(workspace) == 2
    assert "ragassay screen" in capsys.readouterr().err


def test_queries_asked_since_the_screening_are_no_zeros(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """No variant has ranked them, so the certificate waits for the screening."""
    workspace = screened(tmp_path)
    with workspace.queries.open("a") as stream:
        stream.write(json.dumps(query("q99", 3)) + "\n")
    assert certify(workspace) == 2
    told = capsys.readouterr().err
    assert "words was run on 52 queries, and there are 53 now" in told and "run `ragassay screen` again" in told
    assert not workspace.certificate.exists()
