"""What the report says of the test set's validity: its own queries', the warnings first, and nothing without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.made_up_results.workspace import make_workspace
from support.validity_corpus import make_validity_corpus

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.evaluate.report.page import read_validity, report
from ragassay.evaluate.results import PARTS
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_file

NOTHING = {"said": [], "warnings": [], "abstained": None}


def with_validity(root: Path, digest: str | None = None, **parts: object) -> Workspace:
    folder = make_workspace(root)
    queries = digest_file(folder.queries) if digest is None else digest
    found = dict.fromkeys(PARTS, NOTHING) | parts | {"queries": queries, "n_written": 3}
    folder.validity.write_text(json.dumps(found))
    return folder


def test_warnings_come_first_and_a_part_says_one_line(tmp_path: Path):
    folder = with_validity(
        tmp_path,
        leak={"said": ["No <b>word</b> is shared.", "More."], "warnings": [], "abstained": None},
        authors=NOTHING | {"warnings": ["a favours bm25.", "b favours knn."], "said": ["Two wrote."]},
        people=NOTHING | {"abstained": "Nobody asked.", "figures": {"new": 1}},
    )
    lines = read_validity(folder)
    assert [(line.part, line.warning) for line in lines][:2] == [("authors", True), ("leak", False)]
    assert [line.said for line in lines if line.said] == [
        "a favours bm25. b favours knn.",
        "No <b>word</b> is shared.",
        "Not said: Nobody asked.",
    ]
    report(folder)
    page = folder.report.read_text()
    assert 'href="validity.html"' in page and "Authors, a warning:" in page
    assert "No &lt;b&gt;word&lt;/b&gt; is shared." in page and "<b>word</b>" not in page


def test_without_it_or_of_other_queries_the_report_is_as_it_was(tmp_path: Path):
    folder = make_workspace(tmp_path / "one")
    report(folder)
    without = folder.report.read_text()
    other = with_validity(tmp_path / "two", digest="0" * 64)
    report(other)
    assert other.report.read_text() == without and 'id="validity"' not in without


def test_another_layout_is_said_with_its_file(tmp_path: Path):
    folder = make_workspace(tmp_path)
    folder.validity.write_text("{}")
    with pytest.raises(InputError, match=r"validity\.json"):
        read_validity(folder)


def test_what_ragassay_validity_writes_is_what_the_report_reads(tmp_path: Path):
    corpus, results = make_validity_corpus(tmp_path, "leak")
    assert main(["validity", str(corpus), "--results", str(results)]) == 0
    lines = read_validity(Workspace(corpus, results, load_experiment(corpus / "experiment.toml")))
    assert {line.part for line in lines} == set(PARTS)
    assert lines[0].warning and "copied from their evidence" in lines[0].said
