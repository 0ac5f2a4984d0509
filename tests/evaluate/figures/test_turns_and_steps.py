"""What a conversation costs a search: paired with the same search by the question that stands alone, on later turns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ragassay.evaluate.figures.turns_and_steps import bounds, conversations_of, leaning_turns
from ragassay.evaluate.figures.values import ComparedMeasure
from ragassay.evaluate.inputs.clusters import source_clusters
from ragassay.evaluate.screening.screen import conversation_prices
from ragassay.evaluate.screening.screened import Screened
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Query, Turn

SAID = (Turn(role="user", text="US child tax credit?"), Turn(role="assistant", text="Up to $2,000."))


def turn(talk: str, number: int, stand_alone: str | None = "Which has Canada?") -> Query:
    told: dict[str, Any] = {"conversation": talk, "turn": number} | (
        {"stand_alone": stand_alone} if stand_alone else {}
    )
    return Query(id=f"{talk}-{number}", text="And in Canada?", metadata=told, history=SAID if number > 1 else ())


QUERIES = [turn(talk, number) for talk in "abcdefgh" for number in (1, 2, 3)] + [turn("a", 4, None)]
SEARCHES = {
    "last": {"kind": "bm25", "k": 5, "rewrite": "none"},
    "whole": {"kind": "bm25", "k": 5, "rewrite": "whole-history"},
    "alone": {"kind": "bm25", "k": 5, "rewrite": "given-stand-alone"},
    "other": {"kind": "bm25", "k": 9, "rewrite": "none"},
    "by-model": {"kind": "bm25", "k": 5, "rewrite": "stand-alone", "rewrite_model": "openai:m", "b": None},
}


def test_a_search_is_held_against_the_one_that_is_like_it_in_all_but_what_is_searched() -> None:
    assert bounds(SEARCHES) == {"last": "alone", "whole": "alone", "by-model": "alone"}
    assert bounds({name: row for name, row in SEARCHES.items() if name != "alone"}) == {}
    assert bounds({"once": SEARCHES["alone"], "twice": SEARCHES["alone"]}) == {}


def test_only_what_a_search_by_itself_can_read_is_a_question_that_stands_alone() -> None:
    told = QUERIES[1].metadata
    queries = [
        QUERIES[1].model_validate(QUERIES[1].dump() | {"metadata": told | {"stand_alone": one}}) for one in (5, "So?")
    ]
    assert [query.metadata["stand_alone"] for query in leaning_turns([*queries, QUERIES[0]])] == ["So?"]


def test_the_price_is_the_mean_paired_difference_over_turns_from_the_second_on() -> None:
    """First turns, which no history precedes, and the turn that nobody asked in full, have values of no account."""
    ids = [query.id for query in QUERIES]
    later = [id for id in ids if id[-1] in "23"]
    worth = {"last": 0.25, "alone": 0.75, "whole": 1.0}
    values: dict[str, dict[str, float | None]] = {
        name: {id: value if id in later else 0.5 * (name == "last") for id in ids} for name, value in worth.items()
    }
    values["last"] |= {"b-2": None, "c-3": 1.0}
    measure = ComparedMeasure(values)
    draws = resamples(ids, 100, 7, source_clusters(QUERIES))
    found = conversations_of(QUERIES, {"R@5": measure}, {}, draws, SEARCHES)
    assert found is not None and set(found.price) == {"last", "whole"}
    price = found.price["last"]["R@5"]
    assert (price.value, price.n, price.n_failed) == (pytest.approx((14 * -0.5 + 0.25) / 15), 15, 1)
    assert found.price["whole"]["R@5"].value == 0.25
    rows = [[np.nan if value is None else value for value in values[name].values()] for name in values]
    screened = Screened(
        names=list(values),
        settings=[SEARCHES[name] for name in values],
        clusters=source_clusters(QUERIES),
        measures={"evidence_recall": np.array(rows, float)},
        quality="evidence_recall",
        tokens=np.ones((3, len(ids))),
        **{cost: np.ones(3) for cost in ("latency_p50_s", "latency_p95_s", "index_s", "index_bytes")},
    )
    prices = conversation_prices(screened, QUERIES)
    assert prices is not None
    assert (prices["last"].value, prices["last"].n, prices["last"].n_failed) == (pytest.approx(-6.75 / 15), 15, 1)
    assert prices["whole"].value == 0.25
    assert conversation_prices(replace(screened, settings=[{}] * 3), QUERIES) is None
    assert conversation_prices(screened, [query.model_copy(update={"history": ()}) for query in QUERIES]) is None
