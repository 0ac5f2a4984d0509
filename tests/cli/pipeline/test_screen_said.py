"""`ragassay screen` from the command line: a table, a page, and nothing of it where there is no evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.json_lines import write_lines
from support.pdf_maker import make_pdf
from support.small_corpus import page

from ragassay.cli import main

EXPERIMENT = """\
[questions]
source = "own"

[answer]
model = "file:m"

[judge]
model = "file:m"

[[chunking]]
name = "small"
by = "words"
size = [20, 40]
overlap = 0

[[retriever]]
name = "plain"
kind = "bm25"
chunking = "small"
k1 = [0.9, 1.2]
k = 3

[search]
finalists = 2
tokens = 200
"""


def screened(folder: Path, queries: list[dict[str, object]], more: str = "") -> Path:
    folder.mkdir()
    make_pdf(folder / "manual.pdf", [page(number) for number in range(1, 5)])
    (folder / "experiment.toml").write_text(EXPERIMENT + more)
    write_lines(folder / "queries.jsonl", queries)
    for stage in ("ingest", "questions"):
        assert main([stage, str(folder), "--results", "results"]) == 0
    return Path("results")


def test_it_prints_the_finalists_and_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "mine"
    at = [{"doc": "manual.pdf", "first_page": number, "last_page": number} for number in (1, 2, 3, 4)]
    queries = [
        {"_id": f"q{n}", "text": f"register R{n}3", "metadata": {"evidence": [place]}} for n, place in enumerate(at, 1)
    ]
    results = screened(folder, queries)
    capsys.readouterr()
    assert main(["screen", str(folder), "--results", "results"]) == 0
    said = json.loads((results / "screen.json").read_text())
    printed = capsys.readouterr().out
    assert said["context_tokens"] == 200 and len(said["variants"]) == 4
    assert said["finalists"]
    folded = "".join(line.split("  ")[0] for line in printed.splitlines())
    assert all(name in folded for name in said["finalists"])
    assert "page: results/screen.html" in printed
    assert "note: " not in printed, "what the table says is not said again"
    assert said["chosen"]["sentence"] in (results / "screen.html").read_text()
    (results / "screen.html").unlink()
    assert main(["screen", str(folder), "--results", "results"]) == 0
    assert (results / "screen.html").exists()


def test_where_no_variant_finds_any_evidence_it_says_so_and_stops(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "mine"
    queries = [
        {"_id": f"q{n}", "text": "wholly unlike", "metadata": {"evidence": [{"doc": "manual.pdf", "quote": quote}]}}
        for n, quote in enumerate(("register R13", "register R23"))
    ]
    results = screened(folder, queries)
    capsys.readouterr()
    assert main(["screen", str(folder), "--results", "results"]) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert "no variant found any of the evidence of 2 queries" in err and "ragassay check" in err
    assert not (results / "screen.json").exists()
