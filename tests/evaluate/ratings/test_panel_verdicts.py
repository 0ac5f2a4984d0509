"""One verdict from several judges'."""

from __future__ import annotations

import pytest
from support.results_folder import game

from ragassay.errors import InputError
from ragassay.evaluate.ratings.verdicts import Verdict, merge_verdicts, verdicts

PANEL = ("j", "k", "l")


def merged(*winners: str | None, panel: tuple[str, ...] = PANEL) -> Verdict:
    """From both orders of each judge, who are of one mind with themselves."""
    games = [game("q", "a", "b", w, f, judge=j) for j, w in zip(panel, winners, strict=False) for f in ("a", "b")]
    (one,) = merge_verdicts(verdicts(games), panel)
    return one


@pytest.mark.parametrize(
    ("winners", "expected"),
    [
        (("a", "a", "b"), "a"),
        (("b", "b", "b"), "b"),
        (("a", "b", "tie"), "tie"),
        (("a", "tie", "tie"), "tie"),
        (("a", "tie", None), "tie"),
        (("a", "a", None), "a"),
        (("a", "b", None), "tie"),
    ],
)
def test_the_winner_is_whom_more_than_half_of_the_verdicts_name(winners: tuple[str | None, ...], expected: str):
    one = merged(*winners)
    assert (one.judge, one.winner, one.error, one.flipped, one.n_orders) == ("panel", expected, None, None, 2)


def test_more_than_half_must_have_a_verdict():
    one = merged("a", None, None)
    assert (
        one.winner is None
        and one.error == "only 1 of 3 judges could say, and more than half must; k: refused; l: refused"
    )
    two = merged("a", panel=("j", "k"))
    assert two.winner is None and "k: it was not asked" in (two.error or "")


def test_each_judges_own_orders_come_first():
    """j flips, which is its tie: the two others do not agree, and there is no majority."""
    games = [game("q", "a", "b", "a", "a", judge="j"), game("q", "a", "b", "b", "b", judge="j")]
    games += [game("q", "b", "a", w, f, judge=j) for j, w in (("k", "b"), ("l", "a")) for f in ("a", "b")]
    (one,) = merge_verdicts(verdicts(games), PANEL)
    assert (one.agent_a, one.agent_b, one.winner) == ("a", "b", "tie")


def test_games_of_a_file_that_repeats_them_meet_in_their_order():
    games = [game("q", "a", "b", w, "a", judge=j) for j in PANEL for w in ("a", "b")]
    assert [one.winner for one in merge_verdicts(verdicts(games), PANEL)] == ["a", "b"]


def test_a_stranger_is_refused():
    with pytest.raises(InputError, match="'x', who judges 'a' against 'b' for query 'q', is not of the panel"):
        merge_verdicts(verdicts([game("q", "a", "b", "a", judge="x")]), PANEL)
