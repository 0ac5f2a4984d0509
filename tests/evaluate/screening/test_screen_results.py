"""The record of a screening: complete, the same in whatever order things come, and plain about what is not known."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from support.screenings import screening

from ragassay.errors import InputError
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.screening.screen import screen_results
from ragassay.evaluate.screening.screened import ScreenResults

RNG = np.random.default_rng(9)
VALUES = np.round(np.clip(RNG.normal(0.5, 0.4, (12, 20)), 0, 1), 2)
VALUES[4, 2] = np.nan
SECTIONS = np.arange(20) // 2
SETTINGS = [{"kind": "bm25", "k1": k1, "b": b} for k1 in (0.6, 0.9, 1.2, 1.5) for b in (0.3, 0.5, 0.7)]
LATENCY = RNG.uniform(0.001, 0.1, 12)


def made():
    return screening(VALUES, sections=SECTIONS, settings=SETTINGS, latency_s=LATENCY)


def test_the_order_of_variants_and_of_queries_makes_no_difference():
    first, screened = screen_results(made(), baseline="v03"), made()
    rows, columns = RNG.permutation(12), RNG.permutation(20)
    whole = screened.clusters
    turned = replace(
        screened,
        names=[screened.names[at] for at in rows],
        settings=[SETTINGS[at] for at in rows],
        clusters=Clusters(tuple(whole.queries[at] for at in columns), whole.numbers[columns], whole.names),
        measures={"evidence_recall": VALUES[rows][:, columns]},
        tokens=screened.tokens[rows][:, columns],
        **{
            name: getattr(screened, name)[rows] for name in ("latency_p50_s", "latency_p95_s", "index_s", "index_bytes")
        },
    )
    again = screen_results(turned, baseline="v03")
    assert (again.finalists, again.said, again.chosen) == (first.finalists, first.said, first.chosen)
    assert again.effects == first.effects
    assert sorted(again.variants, key=lambda row: row.name) == list(first.variants)


def test_every_variant_is_there_with_its_settings_and_what_failed():
    found = screen_results(made())
    assert [row.name for row in found.variants] == [f"v{at:02d}" for at in range(12)]
    assert found.variants[5].settings == SETTINGS[5]
    assert (found.variants[4].evidence_recall.n, found.variants[4].evidence_recall.n_failed) == (19, 1)
    assert (found.variants[0].evidence_ndcg, found.variants[0].index_s) == (None, None)
    assert (found.n_queries, found.n_sections, found.quality) == (20, 10, "evidence_recall")
    assert ScreenResults.model_validate_json(json.dumps(found.dump())) == found


def test_variants_that_all_give_the_same_are_told_from_none():
    found = screen_results(screening(np.full((5, 10), 0.5)))
    assert (found.chosen.sure, len(found.chosen.untold), found.finalists) == (False, 4, ("v00",))
    assert found.chosen.lead.after.value == 0.0


def test_where_all_failed_nothing_is_chosen_and_that_is_said():
    found = screen_results(screening(np.full((3, 4), np.nan)))
    assert (found.chosen, found.finalists) == (None, ())
    assert "none can be chosen" in found.said[0]
    assert found.variants[0].evidence_recall.n_failed == 4


def test_one_variant_has_nothing_to_lead():
    found = screen_results(screening(VALUES[:1]))
    assert (found.chosen.runner_up, found.chosen.lead, found.chosen.sure) == (None, None, False)


def test_a_baseline_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="no variant 'v99'"):
        screen_results(made(), baseline="v99")


def test_names_cannot_write_to_the_terminal():
    found = screen_results(screening(VALUES[:3], names=["a\x1b[31m", "b", "c"]))
    assert not any("\x1b" in sentence for sentence in found.said)
