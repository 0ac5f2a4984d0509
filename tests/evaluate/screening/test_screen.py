"""The screening: what is held against the evidence, who is on the front and goes on, and the record of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.results_folder import results_folder
from support.screenings import screening

from ragassay.errors import InputError
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.screening.screen import AT_TOKENS, front, screen_results, screened_by, undominated
from ragassay.evaluate.screening.screened import ScreenResults, two_digits
from ragassay.evidence import Graded, Span
from ragassay.experiment.workspace import VariantRun
from ragassay.files import write_text
from ragassay.prompts import passage_tokens
from ragassay.records import Passage, Query

HEAD = '[questions]\nsource = "own"\n[answer]\nmodel = "openai:m"\nagents = []\n[judge]\nmodel = "openai:m"\n'


TEXT = "The watchdog is stopped by writing the register twice within four cycles. " * 2


def passage(number: int) -> Passage:
    return Passage(_id=f"p{number}", text=TEXT, metadata={"doc": "a", "start": 100 * number, "end": 100 * number + 100})


@pytest.mark.parametrize(
    ("k", "tokens", "n_fitting", "at_k", "at_tokens"),
    [
        (1, None, 3, 0.0, 1.0),
        (3, None, 2, 1.0, 0.0),
        (None, 1, 3, 0.0, 1.0),
        (None, 3, 2, 1.0, 0.0),
    ],
)
def test_at_tokens_a_variant_s_own_limit_does_not_count(
    tmp_path: Path, k: int | None, tokens: int | None, n_fitting: int, at_k: float, at_tokens: float
) -> None:
    """The evidence stands in the third passage; `tokens` and `n_fitting` are in passages."""
    length = passage_tokens(passage(1))
    query = Query(_id="q", text="How?")
    settings = f"{HEAD}[[retriever]]\nname = 'v'\nkind = 'bm25'\n[search]\ntokens = {max(50, n_fitting * length)}\n"
    workspace = results_folder(tmp_path, settings, passages=[passage(n) for n in (1, 2, 3)], queries=[query])
    assert length > 25
    write_text(workspace.screening / "v.trec", "".join(f"q Q0 p{n} {n} {9 - n} v\n" for n in (1, 2, 3)))
    own = None if tokens is None else tokens * length
    run = VariantRun(variant="v", table="v", settings={}, k=k, tokens=own, n=1, n_failed=0, n_passages=3)
    found = screened_by(workspace, [run], [query], {"q": Graded.of([(Span("a", 300, 400), 2)])})
    assert found.measures["evidence_recall"].tolist() == [[at_k]]
    assert found.measures[f"evidence_recall{AT_TOKENS}"].tolist() == [[at_tokens]]
    assert found.tokens.tolist() == [[length * (k or tokens or 0)]]


def test_a_search_that_failed_has_no_value_and_one_that_found_nothing_has_0(tmp_path: Path) -> None:
    queries = [Query(id=name, text="How?") for name in ("found", "nothing", "failed")]
    settings = f"{HEAD}[[retriever]]\nname = 'v'\nkind = 'bm25'\n"
    workspace = results_folder(tmp_path, settings, passages=[passage(1)], queries=queries)
    write_text(workspace.screening / "v.trec", "found Q0 p1 1 9 v\n")
    run = VariantRun(
        **{"variant": "v", "table": "v", "settings": {}, "k": 5, "tokens": None, "n_passages": 1},
        n=3,
        n_failed=1,
        errors={"failed": "timed out"},
    )
    evidence = {query.id: Graded.of([(Span("a", 100, 200), 2)]) for query in queries}
    found = screened_by(workspace, [run], queries, evidence)
    np.testing.assert_array_equal(found.measures["evidence_recall"], [[1, 0, np.nan]])
    np.testing.assert_array_equal(found.tokens, [[passage_tokens(passage(1)), 0, np.nan]])


def test_beside_each_variant_stands_what_nobody_has_judged_of_it_and_what_that_leaves_open(tmp_path: Path) -> None:
    """Two queries with graded evidence: of the first p1 to p3 were judged, of the second it is not told."""
    queries = [Query(id=name, text="How?") for name in ("q", "r")]
    settings = f"{HEAD}[[retriever]]\nname = 'v'\nkind = 'bm25'\n[search]\ntokens = 5000\n"
    workspace = results_folder(tmp_path, settings, passages=[passage(n) for n in (1, 2, 3, 4)], queries=queries)
    lines = [f"{q} Q0 p{n} {rank} {9 - rank} v\n" for q in "qr" for rank, n in enumerate((2, 4, 1), 1)]
    write_text(workspace.screening / "v.trec", "".join(lines))
    run = VariantRun(variant="v", table="v", settings={}, k=2, tokens=None, n=2, n_failed=0, n_passages=4)
    spans = {n: Span("a", 100 * n, 100 * n + 100) for n in (1, 2, 3)}
    graded = Graded.of([(spans[1], 2), (spans[2], 1)])
    evidence = {query.id: graded for query in queries}
    found = screened_by(workspace, [run], queries, evidence, {"q": tuple(spans.values())})
    assert found.measures["evidence_ndcg"].tolist() == [[pytest.approx(1 / 3)] * 2]
    assert found.measures["evidence_recall"].tolist() == [[0, 0]]
    assert found.measures[f"evidence_recall{AT_TOKENS}"].tolist() == [[1, 1]]
    assert found.measures["evidence_recall_1"].tolist() == [[0.5, 0.5]]
    assert found.measures["evidence_mrr_1"].tolist() == [[1, 1]]
    [told] = screen_results(found).variants
    assert (told.unjudged.value, told.unjudged.n, told.unjudged.n_failed) == (0.5, 1, 1)
    assert told.unjudged_at_tokens.value == pytest.approx(1 / 3, abs=1e-4)
    assert told.evidence_ndcg_low.value == pytest.approx(1 / 3, abs=1e-4)
    assert told.evidence_ndcg_high.value == pytest.approx((1 + 2 / np.log2(3)) / 5, abs=1e-4)
    assert told.evidence_recall_high.value == 0.5
    [untold] = screen_results(screened_by(workspace, [run], queries, evidence)).variants
    assert untold.unjudged is None and untold.evidence_recall_1.value == 0.5
    binary = dict.fromkeys("qr", Graded.of([(spans[1], 2)]))
    [plain] = screen_results(screened_by(workspace, [run], queries, binary)).variants
    assert plain.evidence_recall_1 is None and plain.evidence_recall is not None


POINTS = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=25)


@given(POINTS)
def test_the_front_is_what_no_other_dominates(points):
    def dominates(a, b):
        return all(x <= y for x, y in zip(a, b, strict=True)) and a != b

    wanted = [not any(dominates(other, point) for other in points) for point in points]
    assert undominated(np.array(points, dtype=np.float64)).tolist() == wanted


def test_quality_latency_and_tokens_each_earn_a_place_and_the_unknown_none():
    values = [[1, 1, 0.8], [0.5, 0.5, 0.5], [0.4, 0.4, 0.4], [0.4, 0.4, 0.3], [np.nan] * 3]
    found = front(screening(values, latency_s=[0.5, 0.02, 0.5, np.nan, 0.001], tokens=np.array([90, 90, 10, 90, 1])))
    assert found.tolist() == [True, True, True, False, False]


def test_a_latency_that_differs_in_the_third_digit_is_the_same():
    assert two_digits(np.array([0.01234, 0.01199, 0.0, 2.0])).round(6).tolist() == [0.012, 0.012, 0.0, 2.0]
    found = front(screening([[0.9, 0.8], [0.8, 0.8]], latency_s=[0.01204, 0.01201]))
    assert found.tolist() == [True, False]


EVEN_RNG = np.random.default_rng(5)
EVEN = np.clip(EVEN_RNG.normal(0.5, 0.2, (30, 40)) - 0.01 * np.arange(30)[:, None], 0, 1)


def going_on(screened, **given):
    return screen_results(screened, **given).finalists


def by_quality(values):
    return [f"v{at:02d}" for at in np.argsort(-values.mean(axis=1), kind="stable")]


def test_without_costs_they_are_the_best_by_quality():
    assert list(going_on(screening(EVEN))) == by_quality(EVEN)[:6]
    assert list(going_on(screening(EVEN), places=3)) == by_quality(EVEN)[:3]


def test_the_baseline_has_a_place_however_bad_it_is():
    assert list(going_on(screening(EVEN), baseline="v29")) == ["v29", *by_quality(EVEN)[:5]]
    assert going_on(screening(EVEN), baseline="v29", places=1) == ("v29",)


def test_one_that_finds_the_same_as_a_finalist_takes_no_place():
    order = by_quality(EVEN)
    double = np.vstack([EVEN, EVEN[[int(order[0][1:])]] - 1e-9])
    assert list(going_on(screening(double))) == order[:6]
    assert len(going_on(screening(np.repeat(EVEN[:2], 10, axis=0)))) == 2


def test_where_both_failed_they_are_alike():
    values = np.vstack([EVEN[:1], EVEN[:1], EVEN[1:3]])
    values[:2, :8] = np.nan
    assert list(going_on(screening(values))) == [name for name in by_quality(np.nan_to_num(values)) if name != "v01"]


def test_what_is_cheaper_and_not_told_to_be_worse_has_a_place_and_what_is_told_has_none():
    latency = np.full(30, 1.0)
    cheap_and_bad = 29
    latency[cheap_and_bad] = 0.01
    order = by_quality(EVEN)
    near = int(order[8][1:])
    latency[near] = 0.1
    values = EVEN.copy()
    values[cheap_and_bad] = np.maximum(values[cheap_and_bad] - 0.3, 0)
    found = going_on(screening(values, latency_s=latency))
    assert f"v{near:02d}" in found and "v29" not in found
    assert [name for name in order if name in found][:5] == order[:5]


def test_what_fails_on_most_queries_does_not_go_on():
    values = EVEN.copy()
    values[7] = 1.0
    values[7, :25] = np.nan
    assert "v07" not in going_on(screening(values))


def test_one_that_failed_on_the_hard_queries_is_not_ahead_for_that():
    hard = np.tile([0.1, 0.9], 20)
    values = np.stack([hard + 0.02, hard, hard - 0.02, hard])
    values[3, ::2] = np.nan
    found = screen_results(screening(values))
    assert (found.chosen.name, found.variants[3].evidence_recall.value) == ("v00", 0.9)


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


def test_one_variant_has_nothing_to_lead_and_its_name_cannot_write_to_the_terminal():
    found = screen_results(screening(VALUES[:1], names=["a\x1b[31m"]))
    assert (found.chosen.runner_up, found.chosen.lead, found.chosen.sure) == (None, None, False)
    assert found.said and not any("\x1b" in sentence for sentence in found.said)


def test_a_baseline_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="no variant 'v99'"):
        screen_results(made(), baseline="v99")
