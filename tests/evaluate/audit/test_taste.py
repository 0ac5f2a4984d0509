"""The judge's taste for length and for its own family: judges with one known fault are found out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from support.results_folder import answer
from support.scripted_games import AGENTS, coin, finding, names, play

from ragassay.evaluate.audit.taste import audit_family, audit_length, family, lengths_of
from ragassay.evaluate.ratings import bradley_terry
from ragassay.evaluate.ratings.length_control import control_length
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.ratings.win_table import contests
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Query


def lengths(n, means):
    """Answers whose lengths scatter widely around each agent's mean."""
    return {
        (query, agent): int(mean + 300 * (2 * coin(query, agent, "length") - 1))
        for query in names(n)
        for agent, mean in means.items()
    }


def by_length(size, strength, taste, n):
    """A judge whose odds follow strength and, by `taste`, the tanh of the difference of lengths."""
    spread = np.std([size[q, a] - size[q, b] for q in names(n) for a, b in combinations(AGENTS, 2)])

    def judge(query, one, other):
        a, b = sorted((one, other))
        gap = (size[query, a] - size[query, b]) / spread
        odds = strength[a] - strength[b] + taste * np.tanh(gap)
        return a if coin(query, a, b, "verdict") < 1 / (1 + np.exp(-odds)) else b

    return judge


MEANS = {"amber": 400, "beryl": 550, "coral": 700}


def test_a_judge_that_likes_length_is_found_out_and_the_length_controlled_rating_undoes_it():
    n, strength = 150, {"amber": 0.8, "beryl": 0.4, "coral": 0.0}
    size = lengths(n, MEANS)
    found = verdicts(play(n, by_length(size, strength, 3.0, n)))
    rows, held = audit_length(found, size, AGENTS, resamples(names(n), 300, 7))
    share, effect = finding(rows, "longer_wins"), finding(rows, "length_effect")
    assert share.figure.ci_low > 0.5
    assert share.p < 0.001
    assert effect.figure.ci_low < 3.0 < effect.figure.ci_high
    assert "may like longer answers: coral leads by the verdicts, amber once length is held equal" in effect.warning
    assert held.plain["coral"].value > held.plain["amber"].value
    for agent in AGENTS:
        truth = 500 + bradley_terry.POINTS * (strength[agent] - 0.4)
        assert held.controlled[agent].ci_low < truth < held.controlled[agent].ci_high


def test_a_judge_without_a_taste_for_length_is_not_accused():
    n, strength = 100, {"amber": 1.0, "beryl": 0.5, "coral": 0.0}
    size = lengths(n, MEANS)
    found = verdicts(play(n, by_length(size, strength, 0.0, n)))
    rows, held = audit_length(found, size, AGENTS, resamples(names(n), 300, 7))
    effect = finding(rows, "length_effect")
    assert effect.figure.ci_low < 0 < effect.figure.ci_high
    assert effect.warning is None
    assert held.controlled["amber"].value > held.controlled["coral"].value
    assert held.mean_length["amber"].value == pytest.approx(np.mean([size[q, "amber"] for q in names(n)]))


def test_answers_of_equal_length_say_nothing_of_a_taste_for_length():
    """Six wins of the longer answer; of four games between answers as long as each other, none counts."""
    size = {(query, agent): 100 for query in names(10) for agent in AGENTS[:2]}
    size |= {(query, AGENTS[0]): 200 for query in names(10)[:6]}
    found = verdicts(play(10, lambda query, a, b: AGENTS[0], AGENTS[:2]))
    share = finding(audit_length(found, size, AGENTS[:2], resamples(names(10), 100, 7))[0], "longer_wins")
    assert (share.figure.value, share.figure.n, share.figure.n_failed) == (1.0, 6, 0)
    assert share.p == 2 / 2**6


def test_an_answer_that_failed_has_no_length_and_its_game_no_part():
    """Ten games won by the longer answer; in four the other one failed."""
    texts = {(query, AGENTS[0]): "long" for query in names(10)}
    texts |= {(query, AGENTS[1]): None if query in names(4) else "so" for query in names(10)}
    size = lengths_of({key: answer(*key, text) for key, text in texts.items()})
    found = verdicts(play(10, lambda query, a, b: AGENTS[0], AGENTS[:2]))
    rows, held = audit_length(found, size, AGENTS[:2], resamples(names(10), 100, 7))
    share, mean = finding(rows, "longer_wins").figure, held.mean_length[AGENTS[1]]
    assert (share.value, share.n, share.n_failed) == (1.0, 6, 0)
    assert (mean.value, mean.n, mean.n_failed) == (2.0, 6, 4)


def test_the_regression_is_the_maximum_that_another_optimiser_finds():
    n = 30
    size = lengths(n, MEANS)
    judge = by_length(size, dict.fromkeys(AGENTS, 0.3), 1.0, n)
    games = play(n, lambda q, a, b: "tie" if coin(q, *sorted((a, b)), "tie") < 0.3 else judge(q, a, b))
    table = contests(verdicts(games), AGENTS, names(n))
    gaps = np.array(
        [
            size[names(n)[q], AGENTS[a]] - size[names(n)[q], AGENTS[b]]
            for q, a, b in zip(table.query, table.a, table.b, strict=True)
        ],
        float,
    )
    fitted = control_length(table, gaps, resamples(names(n), 100, 7))

    def loss(terms):
        theta = np.array([*terms[:2], 0.0])
        z = theta[table.a] - theta[table.b] + terms[2] * np.tanh(gaps / gaps.std())
        return np.sum(np.logaddexp(0, z) - table.score * z)

    best = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).x
    points = 500 + bradley_terry.POINTS * (np.array([*best[:2], 0.0]) - np.mean([*best[:2], 0.0]))
    assert [fitted.controlled[a].value for a in AGENTS] == pytest.approx(points.tolist(), abs=1e-3)
    assert fitted.effect.value == pytest.approx(best[2], abs=1e-5)
    halves = bradley_terry.rate(table, resamples(names(n), 100, 7), ties="half").figures
    assert {a: f.value for a, f in fitted.plain.items()} == pytest.approx(
        {a: f.value for a, f in halves.items()}, abs=1e-4
    )


@pytest.mark.parametrize(
    ("size", "winner", "why"),
    [
        (lambda q, a: 100, lambda q, a, b: min(a, b) if coin(q, a) < 0.6 else max(a, b), "equally long"),
        (lambda q, a: 100 + int(100 * coin(q, a)), lambda q, a, b: min(a, b), "one-sided"),
        (lambda q, a: 100, None, "no verdicts"),
    ],
)
def test_where_length_cannot_be_held_equal_there_is_a_reason_and_no_number(size, winner, why):
    n = 10
    games = play(n, winner) if winner else []
    sizes = {(q, a): size(q, a) for q in names(n) for a in AGENTS}
    rows, held = audit_length(verdicts(games), sizes, AGENTS, resamples(names(n), 100, 7))
    assert finding(rows, "length_effect").figure.value is None
    assert why in held.note
    assert {figure.value for figure in held.controlled.values()} == {None}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai:gpt-4o", "gpt"),
        ("openai:o3-mini", "gpt"),
        ("anthropic:claude-sonnet-4-5", "claude"),
        ("file:claude-judge", "claude"),
        ("openai:meta-llama/Llama-3.1-70B", "llama"),
        ("local:smollm2-135m", "smollm"),
        ("google:gemini-2.5-pro", "gemini"),
    ],
)
def test_the_family_is_in_the_name(model, name):
    assert family(model) == name


def audited(n, writers, judge="openai:gpt-4o", winner=lambda q, a, b: min(a, b), models=("anthropic:claude-x",)):
    queries = [
        Query(id=q, text="?", metadata={"model": models[i % len(models)], "section": f"s{i}"})
        for i, q in enumerate(names(n))
    ]
    return audit_family(judge, writers, queries, verdicts(play(n, winner)), AGENTS, resamples(names(n), 200, 7))


def test_a_judge_whose_family_wrote_everything_cannot_favour_one_agent():
    rows = audited(10, dict.fromkeys(AGENTS, "file:gpt-a"), models=("openai:gpt-5",))
    assert [row.figure.value for row in rows] == [1.0, 1.0]
    assert not any(row.warning for row in rows)
    assert "does not order them" in rows[0].sentence


def test_a_winner_by_the_judges_own_family_is_warned_of():
    rows = audited(20, {"amber": "openai:gpt-4o", "beryl": "anthropic:claude-y", "coral": "anthropic:claude-y"})
    row = finding(rows, "own_answers_win")
    assert (row.figure.value, row.figure.n) == (1.0, 40)
    assert "cannot be told apart" in row.warning


def test_games_within_the_judges_family_say_nothing_of_a_liking_for_it():
    rows = audited(20, {"amber": "openai:gpt-4o", "beryl": "openai:o3", "coral": "anthropic:claude-y"})
    row = finding(rows, "own_answers_win")
    assert (row.figure.value, row.figure.n, row.figure.n_failed) == (1.0, 40, 0)


def test_an_unknown_writer_is_said_and_not_taken_for_another_family():
    row = audited(10, {"amber": "openai:gpt-4o", "beryl": "openai:gpt-4o", "coral": None})[0]
    assert (row.key, row.figure.n, row.figure.n_failed) == ("own_answers", 2, 1)
    assert "coral is not known" in row.sentence


def test_a_leader_by_the_familys_questions_alone_is_warned_of():
    own, other = "openai:gpt-4o", "anthropic:claude-x"
    order = {own: ("amber", "beryl", "coral"), other: ("beryl", "coral", "amber")}

    def winner(query, a, b):
        written = own if int(query[1:]) % 3 else other
        return min((a, b), key=order[written].index)

    rows = audited(30, dict.fromkeys(AGENTS, other), winner=winner, models=(other, own, own))
    assert finding(rows, "own_questions").figure.value == pytest.approx(20 / 30)
    gap = finding(rows, "own_questions_gap")
    assert (gap.figure.value, gap.subject) == (1.0, "amber")
    assert "beryl leads" in gap.warning
