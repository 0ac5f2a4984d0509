"""Win percentages, flips and position bias from verdicts; pairs that have met on different queries weigh the same."""

from __future__ import annotations

import csv
from itertools import combinations

import numpy as np
import pytest
from support.places import DATA
from support.results_folder import game

from ragassay.evaluate.ratings import bradley_terry, elo
from ragassay.evaluate.ratings.verdicts import Verdict, verdicts
from ragassay.evaluate.ratings.win_table import (
    contests,
    first_shown_wins,
    flip_rate,
    win_rate,
    win_rates_by_query,
    wins,
)
from ragassay.evaluate.statistics.paired_comparison import pair_by_query
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Winner

PAPER = DATA / "paper_tables" / "ragelo_table5_wins.csv"
DRAWS = resamples([f"q{n}" for n in range(4)], 200, 7)


def both(query, winner, again, a="a", b="b"):
    """The two orders of one game; an error where the winner is None."""
    return [game(query, a, b, winner, "a"), game(query, a, b, again, "b")]


def test_table_5_of_the_paper_comes_back_from_its_games():
    with PAPER.open(encoding="utf-8") as stream:
        rows = {row["agent"]: row for row in csv.DictReader(stream)}
    games = []
    for a in rows:
        for b in sorted(name for name in rows if name > a):
            won, lost = round(2 * float(rows[a][b])), round(2 * float(rows[b][a]))
            for n, winner in enumerate(["a"] * won + ["b"] * lost + ["tie"] * (200 - won - lost)):
                games += both(f"q{n}", winner, winner, a, b)
    found = wins(verdicts(games), list(rows), resamples([f"q{n}" for n in range(200)], 100, 7))
    for a in rows:
        assert {b: f"{100 * figure.value:.1f}" for b, figure in found[a].items()} == {
            b: rows[a][b] for b in rows if b != a
        }
        assert {figure.n for figure in found[a].values()} == {200}


def test_a_flip_is_a_tie_and_counts_as_a_flip():
    found = verdicts([*both("q0", "a", "a"), *both("q1", "a", "b"), *both("q2", "b", "b"), *both("q3", "a", "a")])
    table = wins(found, ["a", "b"], DRAWS)
    assert (table["a"]["b"].value, table["b"]["a"].value) == (0.5, 0.25)
    assert flip_rate(found, DRAWS).value == 0.25
    assert win_rate(found, ["a", "b"], DRAWS)["a"].value == 0.5


def test_the_answer_shown_first_wins_half_of_the_decided_orders():
    games = [*both("q0", "a", "b"), *both("q1", "b", "a"), *both("q2", "tie", "tie"), *both("q3", None, "a")]
    figure = first_shown_wins(games, DRAWS)
    assert (figure.value, figure.n, figure.n_failed) == (pytest.approx(2 / 5), 5, 1)


def test_a_failed_order_leaves_no_verdict_and_is_counted():
    found = verdicts([*both("q0", "a", "a"), *both("q1", "a", None), *both("q2", None, None)])
    figure = wins(found, ["a", "b"], DRAWS)["a"]["b"]
    assert (figure.value, figure.n, figure.n_failed) == (1.0, 1, 2)
    assert (flip_rate(found, DRAWS).n, flip_rate(found, DRAWS).n_failed) == (1, 2)
    assert win_rate(found, ["a"], DRAWS)["a"].model_dump() == figure.model_dump()


def test_nothing_played_is_not_zero():
    figure = wins([], ["a", "b"], DRAWS)["a"]["b"]
    assert (figure.value, figure.n, figure.n_failed, figure.ci_low) == (None, 0, 0, None)
    assert flip_rate([], DRAWS).value is None and first_shown_wins([], DRAWS).value is None


FEW = [f"q{n:02d}" for n in range(12)]
MANY = [f"q{n:02d}" for n in range(48)]
FEW_DRAWS = resamples(FEW, 200, 7)


def met(a: str, b: str, winners: str) -> list[Verdict]:
    """A verdict a query, by a letter each: a, b, t for a tie, and x for a judge that failed."""
    said: dict[str, Winner | None] = {"a": "a", "b": "b", "t": "tie", "x": None}
    return [
        Verdict(query, a, b, "m", said[letter], None, None if said[letter] else "refused", 2)
        for query, letter in zip(MANY, winners, strict=False)
    ]


def test_two_uneven_pairs_by_hand():
    """x won 3 of 4 against y and 2 of 12 against z: not 5 of 16 but the mean of 3/4 and 2/12."""
    found = met("x", "y", "aaab") + met("x", "z", "aa" + 10 * "b") + met("y", "z", "abt")
    rate = win_rate(found, ["x", "y", "z"], FEW_DRAWS)
    assert rate["x"].value == pytest.approx((3 / 4 + 2 / 12) / 2)
    assert rate["y"].value == pytest.approx((1 / 4 + 1 / 3) / 2)
    assert (rate["x"].n, rate["y"].n) == (16, 7)
    values = win_rates_by_query(found, ["x"])["x"]
    assert np.mean(list(values.values())) == pytest.approx(rate["x"].value)
    # q00: won against both. Its part: 12 / 4 sqrt(4/3 11/12) (1 - 3/4) and (1 - 1/6), over two opponents.
    part = (3 * np.sqrt(4 / 3 * 11 / 12) / 4 + 5 / 6) / 2
    assert values["q00"] == pytest.approx(rate["x"].value + part)
    assert values["q11"] == pytest.approx(rate["x"].value - 1 / 12), "against z alone"


def test_strengths_of_uneven_pairs_are_those_of_pairs_that_met_equally():
    """Each pair's shares repeated until all have met as often give the same strengths, by either way with ties."""
    parts = [("x", "y", 6 * "aabt"), ("x", "z", 8 * "abaabt"), ("y", "z", 4 * "abt")]
    uneven = [row for part in parts for row in met(*part)]
    even = [row for a, b, winners in parts for row in met(a, b, winners * (48 // len(winners)))]
    draws = resamples(MANY, 200, 7)
    for ties in ("davidson", "half"):
        one, other = (bradley_terry.rate(contests(rows, "xyz", MANY), draws, ties=ties) for rows in (uneven, even))
        assert [f.value for f in one.figures.values()] == pytest.approx([f.value for f in other.figures.values()])
        assert one.tie_parameter == pytest.approx(other.tie_parameter) and one.ties == ties
        assert one.figures["x"].n == 72 and other.figures["x"].n == 96
    counted = bradley_terry.rate(contests(uneven, "xyz", MANY, weigh="games"), draws)
    assert counted.figures["x"].value != pytest.approx(one.figures["x"].value, abs=1)


@pytest.mark.parametrize("failed", ["", "x"])
def test_pairs_that_met_on_all_queries_count_by_the_game_as_ever(failed):
    """Failed games are missing verdicts of pairs that met: nothing is weighed for them."""
    found = met("x", "y", "aabtab" + failed) + met("x", "z", "babaab" + failed) + met("y", "z", "abbbta" + 2 * failed)
    found = [row for row in found if row.query_id in FEW[: 6 + len(failed)]]
    weighed, counted = (contests(found, "xyz", FEW, weigh) for weigh in ("pairs", "games"))
    assert weighed.met is None and (weighed.game_weights() == 1).all()
    assert bradley_terry.rate(weighed, FEW_DRAWS).figures == bradley_terry.rate(counted, FEW_DRAWS).figures
    own = [row.winner == ("a" if row.agent_a == "x" else "b") for row in found if row.winner and row.agent_a == "x"]
    assert win_rate(found, "xyz", FEW_DRAWS)["x"].value == pytest.approx(np.mean(own), abs=1e-9)


def test_a_failed_game_does_not_make_another_of_its_pair_count_more():
    """x met y on 4 queries, one without a verdict: w = 12 / 4 each, and 9 of the 12 count."""
    found = met("x", "y", "aaxb") + met("x", "z", "aa" + 10 * "b")
    rate = win_rate(found, ["x"], FEW_DRAWS)["x"]
    assert rate.value == pytest.approx((3 * 2 + 2) / (9 + 12))
    assert (rate.n, rate.n_failed) == (15, 1)


def test_pairs_that_never_met_weigh_nothing_and_are_said():
    found = met("x", "y", "aabt") + met("x", "z", "abbt")
    rated = bradley_terry.rate(contests(found, "xyz", FEW), FEW_DRAWS)
    assert rated.note is not None and "no verdict compares y and z directly" in rated.note
    assert win_rate(found, ["y"], FEW_DRAWS)["y"].value == pytest.approx(1 / 4)
    by_game = bradley_terry.rate(contests(found, "xyz", FEW, weigh="games"), FEW_DRAWS)
    assert "directly" not in (by_game.note or "")


def test_elo_moves_by_so_many_k():
    """x beats y on one of two queries on which z plays: its game moves the two by twice K / 2."""
    found = met("x", "y", "a") + met("x", "z", "tt") + met("y", "z", "tt")
    table = contests(found, "xyz", FEW)
    assert table.game_weights().tolist() == [2, 1, 1, 1, 1]
    first = elo.play(table, elo.Circles(np.array([[0]]), 1), 16, 500)[0]
    assert first.tolist() == pytest.approx([516, 484, 500])


def test_uneven_parts_of_the_games_leave_win_rates_where_they_are_and_intervals_of_differences_hold():
    """Table 5 of the RAGElo paper as chances: the mean over 150 experiments in which each pair has met on 5 to 12 of 12
    queries is that of the population, and the intervals hold the true differences."""
    with PAPER.open() as stream:
        shares = np.array([[float(cell or 0) / 100 for cell in line[1:]] for line in list(csv.reader(stream))[1:]])
    truth, names, rates, held = shares.sum(axis=1) / 5, "uvwxyz", [], []
    for luck in np.random.default_rng(12).random((150, 12, 15)):
        found = []
        for p, (a, b) in enumerate(combinations(range(6), 2)):
            won, lost = shares[a, b], shares[b, a]
            said = ["a" if one < won else "b" if one > 1 - lost else "t" for one in luck[: p % 8 + 5, p]]
            found += met(names[a], names[b], "".join(said))
        values = [win_rates_by_query(found, [name])[name] for name in names]
        rates.append([np.mean(list(row.values())) for row in values])
        for a, b in combinations(range(6), 2):
            gap = pair_by_query(values[a], values[b]).difference(1.0)
            held.append(gap.ci_low <= truth[a] - truth[b] <= gap.ci_high)
    off = np.mean(rates, axis=0) - truth
    assert np.abs(off / (np.std(rates, axis=0) / np.sqrt(150))).max() < 3.5
    assert 0.93 <= np.mean(held) <= 0.98
