"""The recorded set of conversations runs in a clone as far as the screening, without a key and without a network."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.places import ROOT

from ragassay.cli import main
from ragassay.evaluate.report.screening import read_screen
from ragassay.files import read_records
from ragassay.records import Query

CORPUS = ROOT / "corpora" / "avr-libc-conversations"


@pytest.mark.slow
def test_every_reply_is_on_record_and_the_last_turn_alone_costs_a_search(tmp_path: Path) -> None:
    corpus, results = tmp_path / "talks", tmp_path / "results"
    shutil.copytree(CORPUS, corpus)
    for stage in ("ingest", "questions", "screen"):
        assert main([stage, str(corpus), "--results", str(results)]) == 0
    turns = read_records(results / "queries.jsonl", Query)
    assert len({query.metadata["conversation"] for query in turns}) == 20
    assert all(bool(query.history) == (query.metadata["turn"] > 1) for query in turns)
    prices = read_screen(results / "screen.json").conversation_price
    assert prices is not None
    for kind in ("bm25", "knn"):
        high = prices[f"{kind}-rewrite_none"].ci_high
        assert high is not None and high < 0
