"""The judge's audit: constructed judges with one known fault are found out, and the figures are those of other code."""

from __future__ import annotations

import random
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import beta, binomtest
from support.results_folder import findings, game

from ragassay.evaluate.audit.judge_audit import audit_failures, failed_replies, judge_guesses
from ragassay.evaluate.audit.position import audit_position, flips_by_guessing
from ragassay.evaluate.audit.taste import audit_family, audit_length, family
from ragassay.evaluate.ratings import bradley_terry
from ragassay.evaluate.ratings.length_control import control_length
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.ratings.win_table import contests
from ragassay.evaluate.results import Audit, JudgeOfPanel, LengthControl, PanelOfJudges
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.evaluate.statistics.sign_flip import sign_flip_p
from ragassay.records import IDENTICAL, Figure, Query, StageUsage

AGENTS = ("amber", "beryl", "coral")


def names(n):
    return [f"q{i:03d}" for i in range(n)]


def play(n, judge, agents=AGENTS):
    """Every pair in both orders on `n` queries; `judge(query, shown first, shown second)` is the winner or "tie"."""
    games = []
    for query in names(n):
        for a, b in combinations(agents, 2):
            for first, shown in (("a", (a, b)), ("b", (b, a))):
                won = judge(query, *shown)
                winner = "tie" if won == "tie" else "a" if won == a else "b"
                games.append(game(query, a, b, winner, first))
    return games


def ratings(games, n, agents=AGENTS):
    found = verdicts(games)
    return bradley_terry.rate(contests(found, agents, names(n)), resamples(names(n), 100, 7)).figures


def finding(rows, key):
    return next(row for row in rows if row.key == key)


def coin(*key):
    return random.Random(":".join(map(str, key))).random()


# Position


@given(st.integers(0, 25), st.integers(0, 25))
def test_the_exact_test_of_single_flips_is_the_binomial_test(first, second):
    expected = binomtest(first, first + second).pvalue if first + second else None
    assert sign_flip_p([1] * first + [-1] * second) == (None if expected is None else pytest.approx(expected, rel=1e-4))


def test_flips_of_one_cluster_are_one_observation():
    assert sign_flip_p([8, -1]) == 1.0
    assert sign_flip_p([3, 3, 3, 3, 3, 3]) == pytest.approx(2 / 2**6)


@pytest.mark.parametrize("first", [True, False])
def test_a_judge_that_always_takes_one_place_is_found_out_and_moves_no_rating(first):
    n = 20
    games = play(n, lambda query, one, other: one if first else other)
    rows = audit_position(games, AGENTS, resamples(names(n), 200, 7))
    rate, favoured = finding(rows, "flip_rate"), finding(rows, "first_favoured")
    assert (rate.figure.value, rate.figure.n) == (1.0, 60)
    assert favoured.figure.value == float(first)
    assert favoured.p < 0.001
    assert f"favours the answer shown {'first' if first else 'second'}" in favoured.warning
    assert {figure.value for figure in ratings(games, n).values()} == {500.0}


def test_a_judge_with_a_taste_for_the_first_place_leaves_the_better_agent_in_front():
    n = 40
    taste = play(n, lambda query, a, b: a if coin(query, a, b, "taste") < 0.5 else min(a, b))
    rows = audit_position(taste, AGENTS, resamples(names(n), 200, 7))
    assert finding(rows, "first_favoured").p < 0.001
    found = {agent: figure.value for agent, figure in ratings(taste, n).items()}
    assert found["amber"] > found["beryl"] > found["coral"]


def test_a_fair_judge_who_errs_at_random_has_no_favourite_place():
    n = 40
    games = play(n, lambda query, a, b: min(a, b) if coin(query, a, b) < 0.7 else max(a, b))
    rows = audit_position(games, AGENTS, resamples(names(n), 500, 7))
    rate, favoured = finding(rows, "flip_rate"), finding(rows, "first_favoured")
    assert rate.figure.ci_low < 2 * 0.7 * 0.3 < rate.figure.ci_high
    assert favoured.p > 0.05
    assert favoured.warning is None
    assert "Judged in either order alone, amber would lead as well." in favoured.sentence


def test_a_win_against_a_tie_leans_to_its_place():
    played = [("q000", "a", "a"), ("q000", "tie", "b"), ("q001", "b", "a"), ("q001", "tie", "b")]
    games = [game(query, "amber", "beryl", winner, first) for query, winner, first in played]
    rows = audit_position(games, AGENTS[:2], resamples(names(2), 100, 7))
    assert finding(rows, "flip_rate").figure.value == 1.0
    assert finding(rows, "first_favoured").figure.value == 0.5


@given(st.tuples(*[st.integers(0, 6)] * 3).filter(any))
def test_how_often_a_guess_flips_is_the_chance_that_two_draws_name_different_winners(counts):
    kinds = [kind for kind, count in zip(("first", "second", "tie"), counts, strict=True) for _ in range(count)]
    unlike = [won("a", one) != won("b", other) for one, other in product(kinds, kinds)]
    games = [said(str(number), order, kind) for number, kind in enumerate(kinds) for order in "ab"]
    assert flips_by_guessing(games) == pytest.approx(sum(unlike) / len(unlike))


@given(st.tuples(*[st.integers(0, 3)] * 3).filter(any), st.integers(2, 4))
def test_of_lists_it_is_the_chance_that_not_all_presentations_name_one_winner(counts, n):
    kinds = [kind for kind, count in zip(("first", "second", "tie"), counts, strict=True) for _ in range(count)]
    orders = ("ab" * n)[:n]
    unlike = [len({*map(won, orders, drawn)}) > 1 for drawn in product(kinds, repeat=n)]
    games = [
        said(str(number), first, kind).model_copy(update={"presentation": place})
        for number, kind in enumerate(kinds)
        for place, first in enumerate(orders, 1)
    ]
    assert flips_by_guessing(games) == pytest.approx(sum(unlike) / len(unlike))


def test_a_flip_that_leans_to_neither_place_says_nothing_of_a_favourite():
    """Of four presentations the earlier answer won one and lost one."""
    rows = [("a", "a"), ("b", "a"), ("a", "tie"), ("b", "tie")]
    games = [
        game("q000", "amber", "beryl", winner, first, presentation=number)
        for number, (first, winner) in enumerate(rows, 1)
    ]
    found = audit_position(games, AGENTS[:2], resamples(names(1), 100, 7))
    assert finding(found, "flip_rate").figure.value == 1.0 and finding(found, "first_favoured").figure.n == 0


@pytest.mark.parametrize(("kinds", "chance"), [(("first", "second"), 0.5), (("first", "second", "tie"), 2 / 3)])
def test_half_flip_by_coin_and_two_thirds_with_ties(kinds, chance):
    games = [said(str(number), order, kind) for number in range(5) for order in "ab" for kind in kinds]
    assert flips_by_guessing(games) == pytest.approx(chance)
    assert flips_by_guessing([]) is None


def won(first, kind):
    """The winner's letter in a game whose order is `first`."""
    return kind if kind == "tie" else first if kind == "first" else {"a": "b", "b": "a"}[first]


def said(query, first, kind):
    return game(query, "amber", "beryl", won(first, kind), first)


def guessed(seed, n=60, tie=1 / 3, taste=0.5):
    """A judge that draws its verdicts, whatever it is shown; `taste`: of the decided, the share for the first place."""

    def judge(query, one, other):
        drawn = coin(seed, query, one, other)
        return "tie" if drawn < tie else one if drawn < tie + (1 - tie) * taste else other

    return play(n, judge)


def told(games, n=60):
    return finding(audit_position(games, AGENTS, resamples(names(n), 200, 7)), "flip_rate").warning


@pytest.mark.parametrize(("tie", "taste"), [(1 / 3, 0.5), (0.0, 0.5), (0.1, 0.8), (0.6, 0.3)])
def test_a_judge_that_guesses_is_named_in_most_runs(tie, taste):
    named_so = [told(guessed(seed, tie=tie, taste=taste)) for seed in range(12)]
    assert sum(said is not None for said in named_so) >= 10, "the interval's upper end is missed in 2.5%"
    assert all(said.startswith("The judge may be guessing: ") for said in named_so if said)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2])
def test_a_consistent_judge_is_not_said_to_guess(share):
    """It is right but for a share of its verdicts; a fifth of the pairs are ties."""

    def judge(query, a, b):
        right = "tie" if coin(query, *sorted((a, b))) < 0.2 else min(a, b)
        return right if coin(query, a, b, "slip") >= share else max(a, b)

    assert told(play(60, judge)) is None


def test_equal_answers_are_not_held_for_a_steady_judge():
    """Half of the pairs need no judge; of the others it guesses, which the flip rate of all would not show."""
    games = guessed(3, n=120, tie=0.0)
    half = [
        row.model_copy(update={"winner": "tie", "reason": IDENTICAL}) for row in games if int(row.query_id[1:]) < 60
    ]
    rest = [row for row in games if int(row.query_id[1:]) >= 60]
    rows = audit_position([*half, *rest], AGENTS, resamples(names(120), 200, 7))
    alone = audit_position(rest, AGENTS, resamples(names(120), 200, 7))
    assert finding(rows, "flip_rate").figure == finding(alone, "flip_rate").figure
    assert " of 180 winners changed" in finding(rows, "flip_rate").warning
    assert finding(rows, "flip_rate").sentence.endswith(" 180 identical pairs are left out, being no question.")
    assert told(half, 120) is None, "where no judge was asked, none guessed"


def of_places(games, n=60):
    """All that the audit says of the places, as one audit."""
    rows = audit_position(games, AGENTS, resamples(names(n), 200, 7))
    return Audit(findings=rows, length=LengthControl(), failures=())


def test_a_judge_that_takes_the_first_or_tosses_a_coin_guesses_and_a_sober_one_does_not():
    for games in (play(60, lambda query, one, other: one), guessed(3, tie=0.0)):
        said = judge_guesses(of_places(games))
        assert said.guesses and said.sentence.startswith("The judge may be guessing: ")
    sober = play(60, lambda query, a, b: min(a, b))
    assert judge_guesses(of_places(sober)) == (False, "")
    assert judge_guesses(of_places([])) == (False, "")


@pytest.mark.parametrize(("blind", "guesses"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_panel_guesses_where_half_of_its_judges_may(blind, guesses):
    nothing, sober = Figure(value=None, n=0), play(60, lambda query, a, b: min(a, b))
    judges = [
        JudgeOfPanel(
            judge=name,
            failed=nothing,
            agrees=nothing,
            leaders=(),
            win_rate={},
            audit=of_places(guessed(3, tie=0.0) if place < blind else sober),
        )
        for place, name in enumerate("jkl")
    ]
    panel = PanelOfJudges(judges=tuple(judges), disagreement=())
    said = judge_guesses(Audit(findings=(), length=LengthControl(), failures=()), panel)
    assert said.guesses == guesses and said.sentence.count("may be guessing") == blind
    assert said.sentence.startswith("j: The judge may") if blind else said.sentence == ""


def test_without_games_nothing_is_known():
    rows = audit_position([], AGENTS, resamples(names(3), 100, 7))
    assert [row.figure.value for row in rows] == [None, None]
    assert [row.warning for row in rows] == [None, None]


# Length


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
        (lambda q, a: 100 + hash_of(q, a), lambda q, a, b: min(a, b), "one-sided"),
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


def hash_of(query, agent):
    return int(100 * coin(query, agent))


# Self-preference


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


# Failures


def failing(games, which):
    return [game.model_copy(update={"winner": None, "error": "timed out"}) if which(game) else game for game in games]


@pytest.mark.parametrize(("wins", "warned"), [(13, True), (16, False)])
def test_failed_games_that_could_turn_the_order_are_warned_of_and_others_are_not(wins, warned):
    n = 20
    games = play(n, lambda q, a, b: min(a, b) if int(q[1:]) < wins else max(a, b), AGENTS[:2])
    lost = failing(games, lambda game: game.query_id in names(n)[:4])
    row = audit_failures(verdicts(lost), AGENTS[:2], resamples(names(n), 100, 7))
    assert row.figure.value == pytest.approx(4 / 20)
    assert row.figure.n == 20
    assert bool(row.warning) == warned
    assert not warned or "beryl could lead" in row.warning


def test_without_failures_nothing_is_owed():
    whole = audit_failures(verdicts(play(5, lambda q, a, b: a)), AGENTS, resamples(names(5), 100, 7))
    assert (whole.figure.value, whole.warning, whole.sentence) == (0.0, None, "Every game has a verdict.")


def used(stage, calls, failed, refused=None):
    nothing = {"n_unmeasured": 0, "input_tokens": None, "output_tokens": None, "cost_usd": None}
    return StageUsage(stage=stage, model="m", calls=calls, n_failed=failed, n_refused=refused, **nothing)


def test_jeffreys_interval_of_failed_calls():
    usage = tuple(used("retrieve", calls, failed) for calls, failed in ((40, 3), (9, 0), (0, 0)))
    some, none, idle = (row.failed for row in failed_replies(findings(usage=usage)))
    assert (some.value, some.n) == (pytest.approx(3 / 40), 40)
    assert (some.ci_low, some.ci_high) == pytest.approx(beta(3.5, 37.5).ppf([0.025, 0.975]))
    assert (none.value, none.ci_low, none.ci_high) == (0.0, 0.0, pytest.approx(beta(0.5, 9.5).ppf(0.975)))
    assert idle.value is None


@pytest.mark.parametrize("stage", ["questions", "retrieve", "answer", "judge"])
def test_refusals_stand_with_their_stage_and_model(stage):
    usage = (used(stage, 4, 2, 1), used(stage, 4, 2).model_copy(update={"model": "of an older version"}))
    assert [(row.stage, row.model, row.n_refused) for row in failed_replies(findings(usage=usage))] == [
        (stage, "m", 1),
        (stage, "of an older version", None),
    ]
