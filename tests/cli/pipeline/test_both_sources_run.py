"""`questions.source = "both"` from the command line: own queries beside written ones, told apart in every output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.json_lines import records, write_lines
from support.loopback.server import ScriptedServer
from support.made_up_results.page import Page
from support.small_corpus import answer_everything, edit, make_corpus

from ragassay.cli import main

OWN = [
    {"_id": "own-1", "text": "How do I keep <b>the watchdog</b> quiet?", "model": "ATmega328P"},
    {"_id": "own-2", "text": "Where does the boot loader live?", "metadata": {"model": "ATtiny85"}},
    {"_id": "own-3", "text": "Why is port B silent after reset?"},
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return tmp_path / "mine"


def both(corpus: Path, server: ScriptedServer, source: str = "both") -> Path:
    make_corpus(corpus, "openai:m", server.base_url)
    edit(corpus, "[questions]", f'[questions]\nsource = "{source}"')
    write_lines(corpus / "queries.jsonl", OWN)
    return corpus


def test_written_and_real_queries_are_held_against_each_other(corpus: Path, tmp_path: Path, capfd):
    """Also where a real query has a field `model` of its own meaning."""
    with ScriptedServer("openai", answer_everything) as server:
        both(corpus, server)
        assert main(["plan", str(corpus)]) == 0
        assert main(["run", str(corpus)]) == 0
    out, results = capfd.readouterr().out, tmp_path / "results" / "mine"
    queries = records(results / "queries.jsonl")
    assert [query["_id"] for query in queries][:3] == ["own-1", "own-2", "own-3"] and len(queries) == 7
    figures = json.loads((results / "results.json").read_text())
    sources = figures["sources"]
    assert (sources["n_real"], sources["n_written"]) == (3, 4)
    assert [one["measure"] for one in sources["measures"]] == [
        *dict.fromkeys(row["measure"] for row in figures["comparisons"]),
        "nDCG@3",
    ]
    for one in sources["measures"]:
        if one["measure"] == "points":
            continue
        table = {**figures["retrieval"]["bm25-rag"], **figures["pointwise"]["bm25-rag"]}
        sides = [one[side]["bm25-rag"] for side in ("real", "written")]
        mean = sum(side["value"] * side["n"] for side in sides) / 7
        assert mean == pytest.approx(table[one["measure"]]["value"]), "both kinds together are the test set"
        assert [side["n"] for side in sides] == [3, 4]
    assert "Of these queries 3 are real and 4 written." in figures["verdict"]["sentence"]
    assert "Of these queries 3 are real and 4 written." in " ".join(out.split())
    assert "of the pairs that the real queries decide, the written ones decide the same way:" in " ".join(out.split())

    page = Page((results / "report.html").read_text())
    assert "sources" in page.ids and "7 queries (3 real, 4 written)" in page.text
    assert "Do written and real questions agree?" in page.text and "With 3 real and 4 written queries" in page.text
    assert page.text.count("A question of yours.") == 3 and page.text.count("Written by openai:m.") == 4
    assert "ATmega328P" not in page.text and "3 queries of the test set are yours" in page.text


def test_with_one_source_there_is_no_such_section(corpus: Path, tmp_path: Path):
    with ScriptedServer("openai", answer_everything) as server:
        both(corpus, server, "own")
        assert main(["run", str(corpus)]) == 0
    results = tmp_path / "results" / "mine"
    figures = json.loads((results / "results.json").read_text())
    assert "sources" not in figures and "written" not in figures["verdict"]["sentence"]
    page = Page((results / "report.html").read_text())
    assert "sources" not in page.ids and "3 queries ·" in page.text
