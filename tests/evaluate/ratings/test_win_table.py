"""Win percentages, flips and position bias from verdicts."""

from __future__ import annotations

import csv

import pytest
from support.places import DATA
from support.results_folder import game

from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.ratings.win_table import first_shown_wins, flip_rate, win_rate, win_rate_by_query, wins
from ragassay.evaluate.statistics.resamples import resamples

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
    assert win_rate_by_query(found, "a", DRAWS.queries) == {"q0": 1, "q1": 0, "q2": 0, "q3": 1}


def test_the_answer_shown_first_wins_half_of_the_decided_orders():
    games = [*both("q0", "a", "b"), *both("q1", "b", "a"), *both("q2", "tie", "tie"), *both("q3", None, "a")]
    figure = first_shown_wins(games, DRAWS)
    assert (figure.value, figure.n, figure.n_failed) == (pytest.approx(2 / 5), 5, 1)


def test_a_failed_order_leaves_no_verdict_and_is_counted():
    found = verdicts([*both("q0", "a", "a"), *both("q1", "a", None), *both("q2", None, None)])
    figure = wins(found, ["a", "b"], DRAWS)["a"]["b"]
    assert (figure.value, figure.n, figure.n_failed) == (1.0, 1, 2)
    assert (flip_rate(found, DRAWS).n, flip_rate(found, DRAWS).n_failed) == (1, 2)
    assert win_rate_by_query(found, "a", DRAWS.queries) == {"q0": 1, "q1": None, "q2": None, "q3": None}


def test_nothing_played_is_not_zero():
    figure = wins([], ["a", "b"], DRAWS)["a"]["b"]
    assert (figure.value, figure.n, figure.n_failed, figure.ci_low) == (None, 0, 0, None)
    assert flip_rate([], DRAWS).value is None and first_shown_wins([], DRAWS).value is None
