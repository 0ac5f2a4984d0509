"""The audit as a whole: who guesses, what failed, and what changes from one asking to the next."""

from __future__ import annotations

import pytest
from scipy.stats import beta
from support.results_folder import findings
from support.scripted_games import AGENTS, guessed, names, play
from support.textbooks import FLEISS_BY_SUBJECT

from ragassay.evaluate.audit.judge_audit import audit_failures, failed_replies, judge_guesses, repeat_consistency
from ragassay.evaluate.audit.position import audit_position
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.results import Audit, JudgeOfPanel, LengthControl, PanelOfJudges
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Figure, StageUsage


def of_places(games, n=60):
    """All that the audit says of the places, as one audit."""
    rows = audit_position(games, AGENTS, resamples(names(n), 200, 7))
    return Audit(findings=rows, length=LengthControl(), failures=())


def test_a_judge_that_takes_the_first_or_tosses_a_coin_guesses_and_a_sober_one_does_not():
    for games in (play(60, lambda query, one, other: one), guessed(3, tie=0.0)):
        said = judge_guesses(of_places(games))
        assert said.startswith("The judge may be guessing: ")
    sober = play(60, lambda query, a, b: min(a, b))
    assert judge_guesses(of_places(sober)) == judge_guesses(of_places([])) == ""


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
    assert said.count("may be guessing") == (blind if guesses else 0)
    assert said.startswith("j: The judge may") if guesses else said == ""


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


def test_failed_games_against_a_third_agent_are_lost_by_the_leader_too():
    """amber leads with 24 of 34 points. Had coral won the 6 games that failed, it had 24 of 40, and beryl has 25."""
    wins = {("amber", "beryl"): range(10, 20), ("amber", "coral"): range(14), ("beryl", "coral"): range(15)}

    def winner(query, one, other):
        a, b = sorted((one, other))
        return a if int(query[1:]) in wins[a, b] else b

    games = failing(play(20, winner), lambda one: (one.agent_a, one.agent_b, one.winner) == ("amber", "coral", "b"))
    row = audit_failures(verdicts(games), AGENTS, resamples(names(20), 100, 7))
    assert (row.figure.value, row.figure.n) == (pytest.approx(6 / 60), 60)
    assert row.warning.endswith("had they gone against amber, beryl could lead.")


def test_without_failures_nothing_is_owed():
    whole = audit_failures(verdicts(play(5, lambda q, a, b: a)), AGENTS, resamples(names(5), 100, 7))
    assert (whole.figure.value, whole.warning, whole.sentence) == (0.0, None, "Every game has a verdict.")


def used(stage, calls, failed, refused=None):
    nothing = {"n_unmeasured": 0, "input_tokens": None, "output_tokens": None, "cost_usd": None}
    return StageUsage(stage=stage, model="m", calls=calls, n_failed=failed, n_refused=refused, **nothing)


def test_failed_calls_have_jeffreys_interval_and_stand_with_their_stage_model_and_refusals():
    usage = tuple(used("retrieve", calls, failed) for calls, failed in ((40, 3), (9, 0), (0, 0)))
    rows = failed_replies(findings(usage=(*usage, used("answer", 4, 2, 1))))
    assert [(row.stage, row.model, row.n_refused) for row in rows][-2:] == [("retrieve", "m", None), ("answer", "m", 1)]
    some, none, idle, _ = (row.failed for row in rows)
    assert (some.value, some.n) == (pytest.approx(3 / 40), 40)
    assert (some.ci_low, some.ci_high) == pytest.approx(beta(3.5, 37.5).ppf([0.025, 0.975]))
    assert (none.value, none.ci_low, none.ci_high) == (0.0, 0.0, pytest.approx(beta(0.5, 9.5).ppf(0.975)))
    assert idle.value is None


def test_repeat_consistency_is_the_share_of_pairs_of_repeats_that_agree():
    items = [[1, 1, 1], [1, 1, 2], [0, None, 0], [2, None, None]]
    figure = repeat_consistency(items, ["a", "a", "b", "c"])
    assert figure.value == pytest.approx((1 + 1 / 3 + 1) / 3) and (figure.n, figure.n_failed) == (3, 1)
    # Fleiss 1971's mean P_i of the same worked example: 0.378.
    assert repeat_consistency(FLEISS_BY_SUBJECT, list("abcdefghij")).value == pytest.approx(0.378, abs=5e-4)


def test_a_perfectly_consistent_judge_is_not_certain_to_be_one():
    figure = repeat_consistency([[2, 2, 2]] * 40, [str(i) for i in range(40)])
    assert figure.value == 1 and figure.ci_low is not None and 0.85 < figure.ci_low < 0.95
    empty = repeat_consistency([[None, 1]], ["a"])
    assert empty.value is None and empty.n_failed == 1
