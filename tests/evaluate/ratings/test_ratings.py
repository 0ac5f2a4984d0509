"""Elo and Bradley-Terry through `rate_file`: published tables, another library, and properties."""

from __future__ import annotations

import csv
from math import log

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import t
from support.json_lines import write_lines
from support.places import DATA
from support.results_folder import game

from ragassay.cores import Helpers
from ragassay.evaluate.from_files.rate import rate_file
from ragassay.evaluate.ratings import elo
from ragassay.evaluate.ratings.bradley_terry import log_strengths
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.ratings.win_table import contests
from ragassay.evaluate.statistics.resamples import resamples


def table(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write(path, games):
    return write_lines(path, [row.dump() for row in games])


def rated(tmp_path, games, method="bradley-terry", **more):
    return rate_file(write(tmp_path / "g", games), method, **more)


def paper_games():
    """Table 5 as games: 200 queries a pair, (2 · percentage) wins for each side, the rest ties."""
    rows = {row["agent"]: row for row in table(DATA / "paper_tables" / "ragelo_table5_wins.csv")}
    games = []
    for index, a in enumerate(names := list(rows)):
        for b in names[index + 1 :]:
            wins, losses = round(2 * float(rows[a][b])), round(2 * float(rows[b][a]))
            winners = ["a"] * wins + ["b"] * losses + ["tie"] * (200 - wins - losses)
            games += [game(f"q{37 * n % 200}", a, b, winner) for n, winner in enumerate(winners)]
    return games


def cyclic(n_queries=8):
    """Three agents; each beats the next on most queries, and a is a little better."""
    games = []
    for n in range(n_queries):
        for a, b, share in (("a", "b", 6), ("b", "c", 5), ("c", "a", 4)):
            games.append(game(f"q{n}", a, b, "a" if n < share else "b" if n < share + 1 else "tie"))
    return games


@pytest.mark.parametrize(("method", "seed"), [("elo", 1), ("elo", 2), ("bradley-terry", 1)])
def test_table_6_of_the_paper_follows_from_its_table_5_whatever_the_seed(tmp_path, method, seed):
    ratings = rated(tmp_path, paper_games(), method, bootstrap=100, ties="half", seed=seed)["ratings"]
    published = {row["agent"]: float(row["elo"]) for row in table(DATA / "paper_tables" / "ragelo_table6_elo.csv")}
    assert list(ratings) == list(published)
    for agent, rating in published.items():
        assert ratings[agent]["value"] == pytest.approx(rating, abs=5)
        assert ratings[agent]["ci_low"] < ratings[agent]["value"] < ratings[agent]["ci_high"]
        assert ratings[agent]["n"] == 1000


def test_strengths_of_the_1987_baseball_season(tmp_path):
    """Agresti 2002, table 10.11, to the digits of BradleyTerry2's own test."""
    games = []
    for number, row in enumerate(table(DATA / "bradleyterry2" / "baseball.csv")):
        for winner, column in (("a", "home.wins"), ("b", "away.wins")):
            for n in range(int(row[column])):
                games.append(game(f"{number}-{winner}-{n}", row["home.team"], row["away.team"], winner))
    ratings = rated(tmp_path, games, bootstrap=100)["ratings"]
    worst = ratings["Baltimore"]["value"]
    abilities = {team: (figure["value"] - worst) * log(10) / 400 for team, figure in ratings.items()}
    expected = {
        "Milwaukee": 1.58136,
        "Detroit": 1.43641,
        "Toronto": 1.29449,
        "New York": 1.24762,
        "Boston": 1.10770,
        "Cleveland": 0.68385,
        "Baltimore": 0.0,
    }
    assert list(abilities) == list(expected)
    assert abilities == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("wins", "published", "digits"),
    [
        # Stigler 1994, citations among statistics journals (cited over citing), as R's BradleyTerry2 fits `citations`.
        (
            {"Biometrika": (0, 730, 498, 221), "CommStat": (33, 0, 68, 17), "JASA": (320, 813, 0, 142)}
            | {"JRSS-B": (284, 276, 325, 0)},
            {"Biometrika": 0, "CommStat": -2.94907, "JASA": -0.47957, "JRSS-B": 0.26895},
            4,
        ),
        # Women's tennis 1989-90 (Agresti, Categorical Data Analysis), strengths against Sanchez.
        (
            {"Sanchez": (0, 0, 1, 2, 1), "Seles": (2, 0, 2, 1, 3), "Graf": (7, 3, 0, 6, 3)}
            | {"Sabatini": (3, 0, 3, 0, 1), "Navratilova": (3, 3, 0, 2, 0)},
            {"Sanchez": 0, "Seles": 1.533, "Graf": 1.933, "Sabatini": 0.731, "Navratilova": 1.087},
            3,
        ),
    ],
)
def test_strengths_as_published(wins, published, digits):
    fit = log_strengths(np.array([[wins[name] for name in wins]], dtype=float))
    found = dict(zip(wins, fit.log[0] - fit.log[0][0], strict=True))
    assert found == pytest.approx(published, abs=0.6 * 10**-digits)


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_strengths_agree_with_evalica(n, seed):
    """On connected tables; evalica's abilities are the strengths over their sum."""
    generator = np.random.default_rng(seed)
    counts = generator.integers(1, 9, (n, n))
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j for _ in range(counts[i, j])]
    wins = np.where(np.eye(n, dtype=bool), 0, counts).astype(float)
    fit = log_strengths(wins[None])
    other = evalica.bradley_terry(
        [a for a, _ in pairs],
        [b for _, b in pairs],
        [evalica.Winner.X] * len(pairs),
        index=pd.Index(range(n)),
        tolerance=1e-12,
        limit=100_000,
    )
    scores = np.log(other.scores.loc[range(n)].to_numpy())
    assert fit.converged.all()
    assert fit.log[0] == pytest.approx(scores - scores.mean(), abs=1e-5)


def test_elo_of_one_order_agrees_with_evalica():
    games = cyclic()
    arrays = contests(verdicts(games), "abc", [row.query_id for row in games], weigh="games")
    names = np.array(arrays.agents)
    winner = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    won = [winner[score] for score in arrays.score]
    other = evalica.elo(names[arrays.a].tolist(), names[arrays.b].tolist(), won, initial=1000, k=4)
    mine = elo.play(arrays, elo.Circles(np.arange(len(games))[None], 1), 4, 1000)[0]
    assert dict(zip(arrays.agents, mine, strict=True)) == pytest.approx(other.scores.to_dict(), abs=1e-9)


def test_every_order_of_a_tournament_is_an_order():
    circles = elo.shuffled(np.tile(np.arange(7), (3, 1)), 4, np.random.default_rng(1))
    orders = np.concatenate(list(circles.steps())).T
    assert orders.shape == (24, 7)
    assert np.array_equal(np.sort(orders, axis=1), np.tile(np.arange(7), (24, 1)))


def test_tournaments_are_the_same_side_by_side_and_in_other_processes(monkeypatch):
    games = cyclic()
    arrays = contests(verdicts(games), "abc", [row.query_id for row in games])
    circles = elo.shuffled(np.tile(np.arange(len(arrays.a)), (3, 1)), 4, np.random.default_rng(1))
    orders = np.concatenate(list(circles.steps())).T
    each = [elo.play(arrays, elo.Circles(order[None], 1), 16, 500)[0] for order in orders]
    assert elo.play(arrays, circles, 16, 500) == pytest.approx(np.array(each), abs=1e-9)
    assert circles.by_row(np.array(each))[1] == pytest.approx(np.array(each)[1::3])
    draws, settings = resamples(arrays.queries, 250, 7), elo.EloSettings(tournaments=30)
    here = elo.rate(arrays, draws, settings)
    monkeypatch.setattr(elo, "_GAMES_OF_A_PROCESS", 0)
    assert elo.rate(arrays, draws, settings) == here
    with Helpers(True) as helpers:
        assert elo.begin(arrays, draws, settings, helpers)() == here


@pytest.mark.parametrize("method", ["elo", "bradley-terry"])
def test_neither_the_order_of_the_file_nor_who_is_called_a_matters(tmp_path, method):
    games = cyclic()
    other = {"a": "b", "b": "a", "tie": "tie"}
    turned = [game(g.query_id, g.agent_b, g.agent_a, other[g.winner], other[g.first]) for g in reversed(games)]
    one, two = (write(tmp_path / name, rows) for name, rows in (("1", games), ("2", turned)))
    assert rate_file(one, method) == rate_file(two, method)


@pytest.mark.parametrize("method", ["elo", "bradley-terry"])
def test_ratings_keep_their_mean_and_their_order(tmp_path, method):
    ratings = rated(tmp_path, cyclic(), method, initial=1500)["ratings"]
    values = [figure["value"] for figure in ratings.values()]
    assert np.mean(values) == pytest.approx(1500)
    assert list(ratings) == ["a", "b", "c"] and values == sorted(values, reverse=True)


@pytest.mark.parametrize("method", ["elo", "bradley-terry"])
def test_ties_alone_move_nobody(tmp_path, method):
    games = [game(f"q{n}", a, b, "tie") for n in range(6) for a, b in ("ab", "bc", "ac")]
    result = rated(tmp_path, games, method)
    found = {(figure["value"], figure["ci_low"]) for figure in result["ratings"].values()}
    assert found == {(500.0, None)}, "no resample differs: not an interval of width 0"
    assert method == "elo" or result["note"].startswith("all verdicts are ties")


def test_a_one_sided_table_has_no_finite_strengths_and_says_so(tmp_path):
    """Where evalica gives all three the same rating."""
    result = rated(tmp_path, [game(f"q{n}", a, b, "a") for n in range(9) for a, b in ("ab", "ac", "bc")])
    assert [figure["value"] for figure in result["ratings"].values()] == [None] * 3
    assert result["note"] == "one-sided, no finite ratings: no other agent won or tied against a"
    assert result["verdict"]["decided"] and result["points"]["a"]["value"] == 1 and result["ranks"]["a"] == [1, 1]


def test_one_game_does_not_settle_who_is_best(tmp_path):
    result = rated(tmp_path, [game("q", "a", "b", "a")])
    assert result["verdict"]["sentence"] == "a leads, but on one query." and result["verdict"]["p_best"] == {}


def test_two_tables_in_one_file_have_no_common_ratings(tmp_path):
    result = rated(tmp_path, [game(f"q{n}", a, b, "ab"[n % 2]) for n in range(6) for a, b in ("ab", "cd")])
    assert [figure["value"] for figure in result["ratings"].values()] == [None] * 4
    assert result["note"] == "no finite ratings: no verdict links a and b to c and d"
    assert result["verdict"]["p_best"] == {} and "have no verdict on each other" in result["verdict"]["sentence"]


@pytest.mark.parametrize("method", ["elo", "bradley-terry"])
def test_an_agent_whose_games_all_failed_is_not_rated_and_harms_no_other(tmp_path, method):
    bad = [game(f"q{n}", "a", "z", None) for n in range(8)]
    alone, result = rated(tmp_path, cyclic(), method)["ratings"], rated(tmp_path, cyclic() + bad, method)
    ratings = result["ratings"]
    assert ratings["z"] == {"value": None, "n": 0, "n_failed": 8, "ci_low": None, "ci_high": None}
    assert "z" in result["note"]
    assert result["n_failed"] == 8 and ratings["a"]["n_failed"] == 8 and ratings["b"] == alone["b"]
    assert {name: row["value"] for name, row in alone.items()} == {name: ratings[name]["value"] for name in "abc"}


def test_one_query_has_ratings_and_no_intervals(tmp_path):
    result = rated(tmp_path, [game("q", a, b, "a") for a, b in ("ab", "bc", "ca")])
    assert {(row["value"], row["ci_low"]) for row in result["ratings"].values()} == {(500.0, None)}
    assert result["note"] == "no intervals: every resample of the queries says the same"


def test_the_interval_of_two_agents_is_students_of_their_log_odds(tmp_path):
    """By the delta method: the error of log(p / (1 - p)) of n games is 1 / sqrt(n p (1 - p)); each agent has half."""
    n, p = 400, 0.6
    games = [game(f"q{i:03d}", "x", "y", "a" if i < n * p else "b") for i in range(n)]
    x = rated(tmp_path, games, bootstrap=4000)["ratings"]["x"]
    half = 200 / log(10) * t.ppf(0.975, n - 1) / np.sqrt((n - 1) * p * (1 - p))
    middle = 500 + 200 / log(10) * log(p / (1 - p))
    assert (x["ci_low"], x["ci_high"]) == pytest.approx((middle - half, middle + half), abs=0.06 * half)


def test_elo_with_a_small_k_is_linear_in_the_wins_and_so_is_its_interval(tmp_path):
    """K / 2 to each winner and none to the ratings before: a rating is K (wins - n / 2) away from where it began."""
    n, p, k = 400, 0.6, 1e-3
    games = [game(f"q{i:03d}", "x", "y", "a" if i < n * p else "b") for i in range(n)]
    x = rated(tmp_path, games, "elo", bootstrap=4000, k_factor=k, tournaments=10)["ratings"]["x"]
    half = k * n * t.ppf(0.975, n - 1) * np.sqrt(p * (1 - p) / (n - 1))
    assert x["value"] - 500 == pytest.approx(k * n * (p - 0.5), rel=1e-3)
    ends = (x["ci_low"] - 500, x["ci_high"] - 500)
    assert ends == pytest.approx((k * n * (p - 0.5) - half, k * n * (p - 0.5) + half), abs=0.06 * half)


def test_fields_of_somebody_elses_are_ignored(tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text('{"query_id": "q", "agent_a": "x", "agent_b": "y", "first": "a", "winner": "a", "turn": 1}\n')
    assert rate_file(path, "elo", tournaments=1, k_factor=32)["ratings"]["x"]["value"] == 516


def davidson_games(wins, losses, ties):
    """One pair, a query each."""
    winners = ["a"] * wins + ["b"] * losses + ["tie"] * ties
    return [game(f"q{n:03d}", "x", "y", winner) for n, winner in enumerate(winners)]


def lead(result):
    return result["ratings"]["x"]["value"] - result["ratings"]["y"]["value"]


def test_davidson_of_two_agents_is_the_ratio_of_wins_and_ties(tmp_path):
    """One pair fits exactly: the strengths' ratio is wins : losses, and v = ties / sqrt(wins losses)."""
    result, half = (rated(tmp_path, davidson_games(32, 8, 24), ties=ties) for ties in ("davidson", "half"))
    assert lead(result) == pytest.approx(400 * np.log10(4)) and result["tie_parameter"] == pytest.approx(24 / 16)
    assert lead(half) == pytest.approx(400 * np.log10(44 / 20)) and half["tie_parameter"] is None


@given(st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_davidson_is_where_scipy_finds_the_maximum(n, seed):
    generator = np.random.default_rng(seed)
    wins = np.where(np.eye(n, dtype=bool), 0.0, generator.integers(1, 9, (n, n)))
    ties = np.triu(generator.integers(0, 5, (n, n)), 1) + np.eye(n, k=1)
    ties = ties + ties.T

    def loss(at):
        p, v = np.exp(at[:-1]), np.exp(at[-1])
        root = np.sqrt(p[:, None] * p)
        total = p[:, None] + p + v * root
        return -(wins * np.log(p[:, None] / total) + ties / 2 * np.log(v * root / total)).sum()

    best = minimize(loss, np.zeros(n + 1), method="BFGS", options={"gtol": 1e-8})
    fit = log_strengths(wins[None], ties[None])
    assert fit.converged.all()
    assert fit.log[0] == pytest.approx(best.x[:-1] - best.x[:-1].mean(), abs=1e-4)
    assert fit.tie_parameter[0] == pytest.approx(np.exp(best.x[-1]), abs=1e-3)


def test_where_nobody_ever_loses_ties_count_as_half_wins_and_it_is_said(tmp_path):
    result = rated(tmp_path, davidson_games(30, 0, 30))
    assert lead(result) == pytest.approx(400 * np.log10(45 / 15))
    assert result["parameters"]["ties"] == "half" and "ties are counted as half wins" in result["note"]


def test_ranks_and_triples(tmp_path):
    games = [game(f"q{n}", a, b, "b" if n % 10 == 0 else "a") for n in range(200) for a, b in ("ab", "ac", "ad")]
    games += [game(f"q{n}", a, b, "b" if n % 3 == 0 else "a") for n in range(200) for a, b in ("bc", "cd", "db")]
    result = rated(tmp_path, games)
    assert result["ranks"] == {"a": [1, 1], "b": [2, 4], "c": [2, 4], "d": [2, 4]}
    assert (result["triples"], result["intransitive_triples"]) == (4, 1)
    chances = result["verdict"]["p_best"]
    assert chances["a"] > 0.99 and sum(chances.values()) == pytest.approx(1)


def test_among_equals_nobody_is_surely_the_best(tmp_path):
    """The leader of six by luck alone leads in most resamples; its probability of being the best stays low."""
    generator, pairs = np.random.default_rng(3), [(a, b) for a in "abcdef" for b in "abcdef" if a < b]
    games = [game(f"q{n:02d}", a, b, generator.choice(["a", "b", "tie"])) for n in range(40) for a, b in pairs]
    result = rated(tmp_path, games)
    assert max(result["verdict"]["p_best"].values()) < 0.75
    assert all(low <= 2 and high >= 5 for low, high in result["ranks"].values())
