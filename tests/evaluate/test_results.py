"""`results.json` as it is written and read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from support.made_up_results.workspace import make_workspace

from ragassay.evaluate.results import OrdersCompared, PanelOfJudges, Results, WrittenAndReal


@pytest.fixture
def written(tmp_path: Path) -> dict[str, object]:
    return dict(json.loads(make_workspace(tmp_path).figures.read_text(encoding="utf-8")))


def test_what_is_read_is_written_again(written: dict[str, object]) -> None:
    assert Results.model_validate(written).dump() == written


def test_what_only_several_judges_or_kinds_of_queries_bring_is_not_there_without_them(written) -> None:
    assert not {"panel", "second", "sources"} & written.keys()
    panel = PanelOfJudges(judges=(), disagreement=())
    sources = WrittenAndReal(n_real=2, n_written=3, measures=(OrdersCompared(measure="nDCG@5", real={}, written={}),))
    more = Results.model_validate(written).model_copy(update={"panel": panel, "sources": sources}).dump()
    assert more.keys() - written.keys() == {"panel", "sources"}
    assert Results.model_validate(more).sources == sources
    older = {"panel": {**more["panel"], "ratings": {}, "converged": True, "notes": []}}
    assert Results.model_validate({**more, **older}).panel == panel, "as it was with judge-aware ratings"


def test_a_field_that_results_do_not_have_is_refused(written: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="winner"):
        Results.model_validate({**written, "winner": "bm25-rag"})
