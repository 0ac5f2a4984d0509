"""Two orders of the same agents: scipy's values, an example worked by hand, the same queries twice and turned round."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr, ttest_rel

from ragassay.evaluate.figures.written_and_real import compare_orders
from ragassay.evaluate.inputs.clusters import ALONE, Clusters
from ragassay.evaluate.results import OrdersCompared
from ragassay.evaluate.statistics.resamples import resamples

AGENTS = ("a", "b", "c", "d", "e")


def orders(real, written, sections=None, limits=(0.0, 1.0)) -> OrdersCompared:
    """real, written: a row of values for each agent; None failed."""
    sides, draws = [], []
    for kind, rows in (("r", real), ("w", written)):
        ids = [f"{kind}{n:03}" for n in range(len(rows[0]))]
        clusters = Clusters.named(ids, sections) if sections and kind == "w" else ALONE
        sides.append({name: dict(zip(ids, row, strict=True)) for name, row in zip(AGENTS, rows, strict=False)})
        draws.append(resamples(ids, 200, 7, clusters))
    return compare_orders("accuracy", *sides, *draws, limits)


def noisy(means, n, seed=1, spread=0.1):
    return np.random.default_rng(seed).normal(0, spread, (len(means), n)) + np.array(means)[:, None]


ONE, OTHER = noisy((0.2, 0.3, 0.4, 0.5, 0.6), 20), noisy((0.3, 0.2, 0.4, 0.6, 0.5), 30, 2)


def test_the_two_orders_as_scipy_has_them():
    found = orders(ONE.tolist(), OTHER.tolist())
    means = ONE.mean(axis=1), OTHER.mean(axis=1)
    assert found.figures["tau_b"].value == pytest.approx(kendalltau(*means).statistic)
    assert found.figures["rho"].value == pytest.approx(spearmanr(*means).statistic)
    assert [found.figures[name].n for name in ("tau_b", "rho", "loss")] == [5, 5, 5]
    for side, mean in zip((found.real, found.written), means, strict=True):
        assert list(side) == [AGENTS[place] for place in np.argsort(-mean)], "best first"
        assert [side[name].value for name in AGENTS] == pytest.approx(mean)
    assert [row.n for row in found.real.values()] == [20] * 5 and found.written["a"].n == 30


def test_pairs_are_decided_where_scipys_interval_leaves_out_zero():
    found = orders(ONE.tolist(), OTHER.tolist())
    sides = []
    for values in (ONE, OTHER):
        ends = [
            ttest_rel(values[a], values[b]).confidence_interval() for a, b in zip(*np.triu_indices(5, 1), strict=True)
        ]
        sides.append([int(end.low > 0) - int(end.high < 0) for end in ends])
    real, written = sides
    assert found.n_pairs == 10 and found.n_decided == sum(map(abs, real)) > 5
    assert found.n_same == sum(r == w != 0 for r, w in zip(real, written, strict=True))
    assert len(found.contradicted) == sum(r == -w != 0 for r, w in zip(real, written, strict=True)) == 2
    assert set(found.contradicted) == {("b", "a"), ("e", "d")}, "by the real queries the first is better"
    assert found.n_same + found.n_open + len(found.contradicted) == found.n_decided


def test_worked_by_hand():
    """Real means .2 .4 .6, written .6 .4 .5: of three pairs one agrees and two do not, tau (1 - 2) / 3; the written
    ones choose a, which loses .4."""
    found = orders([[0.1, 0.3], [0.3, 0.5], [0.5, 0.7]], [[0.5, 0.7], [0.3, 0.5], [0.4, 0.6]])
    assert found.figures["tau_b"].value == pytest.approx(-1 / 3)
    assert found.figures["rho"].value == pytest.approx(-0.5)
    loss = found.figures["loss"]
    assert loss.value == pytest.approx(0.4) and loss.ci_low <= 0.4 <= loss.ci_high
    assert (found.best_real, found.best_written) == (("c",), ("a",))
    assert (found.n_pairs, found.n_same + found.n_open + len(found.contradicted)) == (3, found.n_decided)


VALUES = st.lists(st.lists(st.integers(0, 4), min_size=8, max_size=8), min_size=3, max_size=5).filter(
    lambda rows: len({sum(row) for row in rows}) == len(rows)
)


@given(VALUES)
def test_the_same_queries_twice_agree_and_turned_ones_contradict(rows):
    same = orders(rows, rows, limits=(0.0, 4.0))
    assert same.figures["tau_b"].value == same.figures["rho"].value == 1
    assert same.figures["tau_b"].ci_high in (1, None), "the truth can be the same order"
    assert same.figures["loss"].value == 0 and same.best_real == same.best_written
    assert same.n_same == same.n_decided and not same.contradicted and not same.n_open
    turned = orders(rows, [[4 - value for value in row] for row in rows], limits=(0.0, 4.0))
    assert turned.figures["tau_b"].value == pytest.approx(-1) and turned.figures["rho"].value == pytest.approx(-1)
    assert len(turned.contradicted) == turned.n_decided == same.n_decided
    sums = {name: sum(row) for name, row in zip(AGENTS, rows, strict=False)}
    assert turned.figures["loss"].value == pytest.approx((max(sums.values()) - min(sums.values())) / 8)


def test_what_failed_is_missing_and_an_agent_without_a_value_has_no_place():
    real, written = ONE.tolist(), OTHER.tolist()
    real[0][3] = None
    written[4] = [None] * 30
    found = orders(real, written)
    assert (found.real["a"].n, found.real["a"].n_failed) == (19, 1)
    assert found.real["a"].value == pytest.approx(np.delete(ONE[0], 3).mean())
    assert list(found.written)[-1] == "e" and found.written["e"].value is None and found.written["e"].n_failed == 30
    assert found.figures["tau_b"].n == 4 and found.n_pairs == 6
    means = [np.delete(ONE[0], 3).mean(), *ONE[1:4].mean(axis=1)]
    assert found.figures["tau_b"].value == pytest.approx(kendalltau(means, OTHER[:4].mean(axis=1)).statistic)


@pytest.mark.parametrize(
    ("real", "written", "why"),
    [
        ([[0.1], [0.3]], [[0.1, 0.2], [0.3, 0.2]], "only one real query has a value"),
        ([[0.1, 0.2], [0.3, 0.2]], [[None, 0.2], [None, 0.1]], "only one written query has a value"),
        ([[None, None], [0.3, 0.2]], [[0.1, 0.2], [0.3, 0.2]], "fewer than two agents have a value on both"),
        ([[0.2, 0.2], [0.2, 0.2]], [[0.1, 0.2], [0.3, 0.2]], "all agents are level on the real queries"),
        ([[0.1, 0.2], [0.3, 0.2]], [[0.2, 0.1], [0.1, 0.2]], "all agents are level on the written queries"),
    ],
)
def test_without_two_orders_there_is_no_figure_but_a_reason(real, written, why):
    found = orders(real, written)
    for name in ("tau_b", "rho"):
        assert found.figures[name].value is None and found.undefined[name].startswith(why)
    if "level on the real" in why:
        assert found.figures["loss"].value == 0
    else:
        assert found.figures["loss"].value is None and found.undefined["loss"].startswith(why)


def test_queries_of_one_section_count_as_one():
    """Written queries that come from two sections say less than as many that stand alone."""
    alone = orders(ONE.tolist(), OTHER.tolist())
    together = orders(ONE.tolist(), OTHER.tolist(), sections=["x"] * 15 + ["y"] * 15)
    assert together.figures["tau_b"].value == alone.figures["tau_b"].value
    width = [one.figures["tau_b"].ci_high - one.figures["tau_b"].ci_low for one in (alone, together)]
    assert width[0] < width[1]
    assert together.n_same < alone.n_same
