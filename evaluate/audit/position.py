"""The judge's favourite place: how often a game's winner changes with the order, and towards which place.

Judges favour a position (Zheng et al. 2023, arXiv:2306.05685, section 3.4). Every pair is judged in both orders and a
winner that flips is a tie, so such a preference moves no agent above another; it costs games that decide nothing.

A judge that does not look at the answers flips too, and how often follows from what it says: with f, s and t the shares
of its verdicts for the answer shown first, the one shown second, and neither, two verdicts that know nothing of each
other name different winners in 1 - 2fs - t^2 of the pairs. That is 50% of coin tosses, 66.7% where ties are as likely.
Of answers ranked together in k presentations, h of them with one of a pair first, it is 1 - f^h s^(k-h) - s^h f^(k-h) -
t^k.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records import IDENTICAL, Figure, Game

from ..ratings.leader import leaders, named
from ..ratings.verdicts import Verdict, sorted_game, verdicts
from ..ratings.win_table import flip_rate
from ..results import AuditFinding
from ..statistics.paired_comparison import LEVEL
from ..statistics.resamples import Resamples
from ..statistics.sign_flip import flip_p_of_rows


def audit_position(
    games: Sequence[Game], agents: Sequence[str], draws: Resamples, found: Sequence[Verdict] | None = None
) -> tuple[AuditFinding, ...]:
    """The flip rate, and the share of flips towards the answer shown first (0.5 is fair), of a list: earlier.

    found: the games' verdicts.

    The flips of a cluster are tested together. A warning is set where the flip rate reaches what guessing would give,
    and where the judge favours a place (p below 5%) and judging in one order only would have put others first (of
    answers ranked together `place.py` says so).
    """
    found = verdicts(games) if found is None else found
    rate = flip_rate(found, draws)
    flips = [v for v in found if v.flipped]
    towards_first = [(v.query_id, v.lean > 0) for v in flips if v.lean]  # as often either way says nothing
    favoured = draws.mean([(query, float(first)) for query, first in towards_first], rate.n_failed)
    p = flip_p_of_rows([(query, 1 if first else -1) for query, first in towards_first], draws.clusters)
    listed = any(game.presentation is not None for game in games)
    both, single = leaders(found, agents, draws), [] if listed else _one_order_leaders(games, agents, draws)
    differs = any(alone != both for alone in single)
    place = _place(favoured, p, _LISTED if listed else _PAIRED)
    return (
        AuditFinding(
            key="flip_rate",
            figure=rate,
            fair=0.0,
            sentence=_of_rate(rate, by_mean=any(v.probability is not None for v in found), listed=listed)
            + _left_out(sum(v.identical for v in found)),
            warning=_guessing(games, rate),
        ),
        AuditFinding(
            key="first_favoured",
            subject=_LISTED[0] if listed else "",
            figure=favoured,
            fair=0.5,
            p=p,
            sentence=_ONE_WAY
            if listed and rate.value is None
            else _of_place(place, favoured, len(flips)) + (_of_orders(single, both) if rate.n and single else ""),
            warning=_warning(place, favoured, single, both) if place and differs else None,
        ),
    )


def flips_by_guessing(games: Sequence[Game]) -> float | None:
    """The share of pairs (0 to 1) whose winner would change with the order, were each verdict drawn from all that the
    judge gave in a place, whatever the answers. None without verdicts."""
    given = [game for game in games if game.winner is not None]
    if not given:
        return None
    first = sum(game.winner == game.first for game in given) / len(given)
    tie = sum(game.winner == "tie" for game in given) / len(given)
    n = max((game.presentation or 0 for game in given), default=0) or 2
    second, half = 1 - first - tie, (n + 1) // 2
    return 1 - (first**half * second ** (n - half) + second**half * first ** (n - half)) - tie**n


def _guessing(games: Sequence[Game], rate: Figure) -> str | None:
    """The warning where the flip rate's interval reaches what guessing gives and is above half of that: so few pairs
    that both are possible say nothing. Identical answers need no judge."""
    chance = flips_by_guessing([game for game in games if game.reason != IDENTICAL])
    low, high = rate.ci_low, rate.ci_high
    if not rate.value or low is None or high is None or chance is None or high < chance:
        return None
    if low <= chance / 2 and rate.value < chance:
        return None
    ends = f"[{100 * low:.1f}, {100 * high:.1f}]"
    return (
        f"The judge may be guessing: {round(rate.value * rate.n):,} of {rate.n:,} winners changed with the order "
        f"({100 * rate.value:.1f}% {ends}), and {100 * chance:.1f}% would if it did not look at the answers. If so, "
        "the ratings say nothing."
    )


def _one_order_leaders(games: Sequence[Game], agents: Sequence[str], draws: Resamples) -> list[tuple[str, ...]]:
    """Who would lead had each pair been judged once, the first agent of the list first, and then last."""
    place = {agent: at for at, agent in enumerate(agents)}
    sides: dict[bool, list[Game]] = {True: [], False: []}
    for game in games:
        listed_first = place[game.agent_a] < place[game.agent_b]
        sides[listed_first == (game.first == "a")].append(sorted_game(game))
    return [leaders(side, agents, draws) for side in sides.values()]


_PAIRED, _LISTED = ("first", "second"), ("earlier", "later")
"""What the two places of a pair are called: by itself, and in a list."""

_ONE_WAY = "No pair was seen both ways; what each place wins tells something of it."


def _place(favoured: Figure, p: float | None, places: tuple[str, str]) -> str | None:
    if p is None or p >= LEVEL or favoured.value is None:
        return None
    return places[favoured.value < 0.5]


def _of_rate(rate: Figure, *, by_mean: bool, listed: bool) -> str:
    if rate.value is None and listed:
        return "No list was ranked in several presentations, so it is not known whether a winner hangs on the order."
    if rate.value is None:
        return "No pair was judged in both orders, so nothing is known about the judge's favourite place."
    flips = round(rate.value * rate.n)
    if not flips:
        return f"No winner of {rate.n:,} pairs changed with the order: no game was lost to it."
    told = "the mean probability of both orders decides them" if by_mean else "they count as ties and lift no agent"
    return f"{flips:,} of {rate.n:,} winners changed with the order; {told}."


def _left_out(n_identical: int) -> str:
    if not n_identical:
        return ""
    return f" {n_identical:,} identical {'pair is' if n_identical == 1 else 'pairs are'} left out, being no question."


def _of_place(place: str | None, favoured: Figure, n_flips: int) -> str:
    if favoured.value is None:
        return "The flips lean to neither place." if n_flips else "Nothing flipped, so no place is favoured."
    if place is None:
        return f"No place is favoured as far as {_flips(favoured.n)} can tell."
    played = "each pair is seen both ways" if place in _LISTED else "both orders are played"
    return f"The judge favours the answer shown {place}; {played}, so the ratings are not moved by it."


def _flips(n: int) -> str:
    return "1 flip" if n == 1 else f"{n:,} flips"


def _of_orders(single: Sequence[tuple[str, ...]], both: tuple[str, ...]) -> str:
    if all(alone == both for alone in single):
        return f" Judged in either order alone, {named(both)} would lead as well."
    return f" Judged in one order alone, {named(single[0])} would lead, in the other {named(single[1])}."


def _warning(place: str | None, favoured: Figure, single: Sequence[tuple[str, ...]], both: tuple[str, ...]) -> str:
    share = 100 * (favoured.value or 0.0)
    towards = share if place == "first" else 100 - share
    return (
        f"The judge favours the answer shown {place} ({towards:.0f}% of {_flips(favoured.n)}): in one order alone "
        f"{named(single[0])} would lead, in the other {named(single[1])}. The ratings are from both orders together."
    )
