"""Judges that rank by where answers stand are found out, and move no agent: a scripted judge for each fault."""

from __future__ import annotations

import random
from itertools import pairwise
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from support.results_folder import answer, game

from ragassay.evaluate.audit.position import audit_echo, audit_places, audit_position
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.judging.engine.cases import ListCase
from ragassay.evaluate.judging.games import sittings, turns
from ragassay.evaluate.judging.judges.listwise import games_of
from ragassay.evaluate.ratings import bradley_terry
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.ratings.win_table import contests
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Query, RankedList

SIX = ("amber", "beryl", "coral", "diamond", "emerald", "flint")
QUALITY = dict(zip(SIX, (1.0, 0.8, 0.6, 0.4, 0.2, 0.0), strict=True))


def names(n):
    return [f"q{i:03d}" for i in range(n)]


def ranked(n, scores, agents=SIX, presentations=2, seated=None):
    """(games, lists) of `n` queries in balanced orders; `scores(query, presentation, agents as shown)` is a score each.

    seated: (query, presentation) to the agents as shown, where the orders are not to be balanced.
    """
    games, lists, turn = [], [], turns(names(n), "7:presentations")
    for query in names(n):
        for sitting in sittings(agents, turn[query], presentations):
            order = sitting.agents[::-1] if sitting.turned else sitting.agents
            order = seated(query, sitting.presentation) if seated else order
            given = scores(query, sitting.presentation, order)
            levels = sorted(set(given), reverse=True)
            groups = tuple(tuple(a for a, s in zip(order, given, strict=True) if s == level) for level in levels)
            shown = tuple((agent,) for agent in order)
            answers = tuple(answer(query, agent, agent) for agent in agents)
            row = RankedList(query_id=query, presentation=sitting.presentation, judge="j", shown=shown, order=groups)
            lists.append(row)
            games += games_of(ListCase(Query(_id=query, text="?"), answers, shown, sitting.presentation, ()), row, "j")
    return games, lists


def of_quality(query, presentation, order):
    """The agents' qualities, with luck of a query's own; the same however they are shown."""
    return [QUALITY[agent] + random.Random(f"{query}:{agent}").gauss(0, 0.8) for agent in order]


def with_bonus(bonus):
    """The same, and a bonus by place."""
    return lambda *case: [score + bonus(place) for place, score in enumerate(of_quality(*case))]


def as_shown(query, presentation, order):
    return [-place for place, _ in enumerate(order)]


def the_reverse(query, presentation, order):
    return [place for place, _ in enumerate(order)]


def draws(n, per_section=1):
    return resamples(names(n), 200, 7, Clusters.named(names(n), [f"s{i // per_section:03d}" for i in range(n)]))


def ratings(games, n):
    return bradley_terry.rate(contests(verdicts(games), SIX, names(n)), draws(n)).figures


def told(n, scores, **more):
    games, lists = ranked(n, scores, **more)
    agents = more.get("agents", SIX)
    return games, audit_places(games, agents, draws(n)), audit_echo(lists, draws(n))


def test_a_sober_judge_gets_no_warning_and_places_win_half_of_their_pairs():
    games, (trend, *places), (echo,) = told(36, of_quality)
    assert trend.p is None and trend.figure.value == 0 and trend.figure.ci_low < 0 < trend.figure.ci_high
    assert [row.subject for row in places] == list("123456")
    assert all(row.figure.ci_low < 0.5 < row.figure.ci_high and row.figure.n == 36 * 2 * 5 for row in places)
    assert {row.warning for row in (trend, *places, echo)} == {None}
    assert "By any presentation alone, " in trend.sentence and audit_position(games, SIX, draws(36))[0].warning is None


@pytest.mark.parametrize(
    "bonus", [lambda place: 1.0 * (place == 0), lambda place: -0.1 * place], ids=["first", "falling"]
)
def test_a_judge_that_favours_the_first_place_is_found_out_and_over_two_presentations_moves_no_agent(bonus):
    n = 72
    games, (trend, *places), _ = told(n, with_bonus(bonus))
    sober, _ = ranked(n, of_quality)
    assert trend.p < 0.001 and trend.figure.ci_low > 0 and "favours answers shown earlier" in trend.sentence
    assert places[0].p < 0.001 and places[0].figure.ci_low > 0.5
    biased, fair = ratings(games, n), ratings(sober, n)
    assert max(SIX, key=lambda agent: biased[agent].value) == max(SIX, key=lambda agent: fair[agent].value) == "amber"
    for agent in SIX:
        assert abs(biased[agent].value - fair[agent].value) < (fair[agent].ci_high - fair[agent].ci_low) / 2


@pytest.mark.parametrize(("judge", "sign"), [(as_shown, 1), (the_reverse, -1)], ids=["order", "reverse"])
def test_a_judge_that_gives_back_the_order_shown_or_its_reverse_is_named_and_ties_all(judge, sign):
    n = 24
    games, (trend, *places), (echo,) = told(n, judge)
    assert echo.figure.value == (sign > 0) and echo.fair == pytest.approx(1 / factorial(6)) and echo.p < 0.001
    assert echo.warning.startswith(
        "The judge may be repeating the order it was shown: 48 of 48 lists came back exactly "
    )
    assert ("in its reverse" in echo.warning) == (sign < 0) and "0.1% would by chance" in echo.warning
    assert trend.figure.value == sign and [row.figure.value for row in places][:: len(places) - 1] == [
        sign > 0,
        sign < 0,
    ]
    assert {v.winner for v in verdicts(games)} == {"tie"}
    assert {figure.value for figure in ratings(games, n).values()} == {500.0}


def test_a_sober_judge_whose_order_is_a_row_of_the_square_is_not_called_an_echo():
    """With the same order on every query one presentation in six is as shown, and its other is the reverse of it."""
    n, agents = 36, ("amber", "beryl")
    row = sittings(SIX, 0, 1)[0].agents
    _, _, (echo,) = told(n, lambda query, presentation, order: [-row.index(agent) for agent in order])
    assert echo.figure.value == pytest.approx(1 / 6) and echo.fair == pytest.approx(1 / 720)
    assert echo.warning is None and "12 of 72 lists" in echo.sentence and "12 exactly in its reverse" in echo.sentence
    assert audit_echo(ranked(n, as_shown, agents=agents)[1], draws(n)) == (), "lists of two say nothing of it"


def test_the_first_place_of_lists_whose_others_tie():
    """The first wins all of its 5 pairs of 15, so tau is a third; each other loses one of five and ties four."""
    _, (trend, *places), _ = told(12, lambda query, presentation, order: [1, 0, 0, 0, 0, 0])
    assert trend.figure.value == pytest.approx(5 / 15)
    assert [row.figure.value for row in places] == [1.0, *[pytest.approx(0.4)] * 5]
    assert all(row.p == pytest.approx(min(1, 6 * 2 / 2**12)) for row in places)


@given(st.permutations(range(5)))
def test_tau_is_kendalls(order):
    _, (trend, *_), _ = told(
        1, lambda query, presentation, agents: [-rank for rank in order], agents=SIX[:5], presentations=1
    )
    assert trend.figure.value == pytest.approx(kendalltau(range(5), order).statistic)


def test_where_one_presentation_alone_would_have_others_first_it_is_said():
    """amber always stands first in the first presentation and last in the second."""

    def seated(query, presentation):
        return ("amber", "beryl", "coral")[:: 1 if presentation == 1 else -1]

    _, (trend, *_), _ = told(12, as_shown, agents=SIX[:3], seated=seated)
    assert "favours answers shown earlier: by one presentation alone amber would lead" in trend.warning
    assert "by all together amber, beryl and coral" in trend.warning


def test_a_judge_that_errs_at_random_is_called_biased_no_more_often_than_one_in_twenty():
    runs, n, found = 150, 12, np.zeros(2)
    for run in range(runs):

        def noisy(query, presentation, order, run=run):
            return [random.Random(f"{run}:{query}:{presentation}:{agent}").random() for agent in order]

        _, (trend, *_), (echo,) = told(n, noisy, agents=SIX[:4])
        found += [trend.p is not None and trend.p < 0.05, echo.warning is not None]
    assert found[0] / runs < 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5 and found[1] / runs < 0.05


def test_failed_lists_are_counted_and_pairs_have_no_places():
    games, lists = ranked(6, of_quality)
    failed = [row.model_copy(update={"winner": None, "error": "no"}) if row.presentation == 2 else row for row in games]
    trend, *places = audit_places(failed, SIX, draws(6))
    assert (trend.figure.n, trend.figure.n_failed) == (6 * 15, 6 * 15) and places[0].figure.n_failed == 6 * 5
    gone = [row.model_copy(update={"order": None, "error": "no"}) if row.presentation == 2 else row for row in lists]
    (echo,) = audit_echo(gone, draws(6))
    assert (echo.figure.n, echo.figure.n_failed) == (6, 6)
    assert audit_echo([row for row in gone if row.error], draws(6)) == ()
    assert audit_places([game("q000", "amber", "beryl", "a")], SIX, draws(1)) == ()


def test_queries_of_a_section_are_tested_together():
    games, _ = ranked(24, as_shown)
    alone, together = (audit_places(games, SIX, draws(24, each))[0] for each in (1, 12))
    assert alone.p < 0.001 and together.p == pytest.approx(0.5), "two sections: 2 / 2^2"
    assert all(one.figure.value == other.figure.value for one, other in pairwise([alone, together]))
