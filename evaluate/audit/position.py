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
from math import factorial

from ragassay.records import IDENTICAL, Figure, Game, RankedList

from ..ratings.leader import leaders, named
from ..ratings.verdicts import Verdict, sorted_game, verdicts
from ..ratings.win_table import flip_rate
from ..results import AuditFinding
from ..statistics.paired_comparison import LEVEL
from ..statistics.resamples import Resamples, holm
from ..statistics.sign_flip import flip_p_of_rows

_LISTED = ("earlier", "later")
"""What the two places of a pair are called in a list."""


def audit_position(
    games: Sequence[Game], agents: Sequence[str], draws: Resamples, found: Sequence[Verdict] | None = None
) -> tuple[AuditFinding, ...]:
    """The flip rate, and the share of flips towards the answer shown first (0.5 is fair), of a list: earlier.

    found: the games' verdicts.

    The flips of a cluster are tested together. A warning is set where the flip rate reaches what guessing would give,
    and where the judge favours a place (p below 5%) and judging in one order only would have put others first (of
    answers ranked together `audit_places` says so).
    """
    found = verdicts(games) if found is None else found
    rate = flip_rate(found, draws)
    flips = [v for v in found if v.flipped]
    towards_first = [(v.query_id, v.lean > 0) for v in flips if v.lean]  # as often either way says nothing
    favoured = draws.mean([(query, float(first)) for query, first in towards_first], rate.n_failed)
    p = flip_p_of_rows([(query, 1 if first else -1) for query, first in towards_first], draws.clusters)
    listed = any(game.presentation is not None for game in games)
    places = _LISTED if listed else ("first", "second")
    # Who would lead had each pair been judged once, the first agent of the list first, and then last.
    sides: dict[bool, list[Game]] = {} if listed else {True: [], False: []}
    for game in () if listed else games:
        listed_first = agents.index(game.agent_a) < agents.index(game.agent_b)
        sides[listed_first == (game.first == "a")].append(sorted_game(game))
    both, single = leaders(found, agents, draws), [leaders(side, agents, draws) for side in sides.values()]
    clear = p is not None and p < LEVEL and favoured.value is not None
    place = places[(favoured.value or 0.0) < 0.5] if clear else None
    rated = _of_rate(rate, by_mean=any(v.probability is not None for v in found), listed=listed)
    if n := sum(v.identical for v in found):
        rated += f" {n:,} identical {'pair is' if n == 1 else 'pairs are'} left out, being no question."
    said = "No pair was seen both ways; what each place wins tells something of it."
    if rate.value is not None or not listed:
        said = _of_place(place, favoured, len(flips))
        if rate.n and single and all(alone == both for alone in single):
            said += f" Judged in either order alone, {named(both)} would lead as well."
        elif rate.n and single:
            said += f" Judged in one order alone, {named(single[0])} would lead, in the other {named(single[1])}."
    warning = None
    if place and any(alone != both for alone in single):
        share = 100 * (favoured.value or 0.0)
        warning = (
            f"The judge favours the answer shown {place} ({share if place == 'first' else 100 - share:.0f}% of "
            f"{_flips(favoured.n)}): in one order alone {named(single[0])} would lead, in the other "
            f"{named(single[1])}. The ratings are from both orders together."
        )
    return (
        AuditFinding(key="flip_rate", figure=rate, fair=0.0, sentence=rated, warning=_guessing(games, rate)),
        AuditFinding(
            key="first_favoured",
            subject=places[0] if listed else "",
            figure=favoured,
            fair=0.5,
            p=p,
            sentence=said,
            warning=warning,
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


def _of_place(place: str | None, favoured: Figure, n_flips: int) -> str:
    if favoured.value is None:
        return "The flips lean to neither place." if n_flips else "Nothing flipped, so no place is favoured."
    if place is None:
        return f"No place is favoured as far as {_flips(favoured.n)} can tell."
    played = "each pair is seen both ways" if place in _LISTED else "both orders are played"
    return f"The judge favours the answer shown {place}; {played}, so the ratings are not moved by it."


def _flips(n: int) -> str:
    return "1 flip" if n == 1 else f"{n:,} flips"


FEWEST_PLACES = 3
"""A list of fewer answers says nothing of it."""


def audit_echo(lists: Sequence[RankedList], draws: Resamples) -> tuple[AuditFinding, ...]:
    """The share of lists that came back in the very order shown; empty where none of three or more has an order.

    That, or its reverse, is no sign by itself: one of n answers does by chance in n! cases, and of a sober judge's two
    presentations, one the reverse of the other, each may. So what is held against chance is also how much more often
    the one than the other. Lists of two are pairs: the audit of places sees to them.

    p: of as many in that order as in its reverse, two-sided. A warning is set where one of the two is more frequent
    than the other (p below 5%) and, by its interval, than chance.
    """
    long = [row for row in lists if len(row.shown) >= FEWEST_PLACES]
    given = [row for row in long if row.order is not None]
    if not given:
        return ()
    ways = []
    for row in given:
        order, shown = ([frozenset(part) for part in parts] for parts in (row.order or (), row.shown))
        ways.append((row.query_id, 1 if order == shown else -1 if order == shown[::-1] else 0))
    same, turned = (draws.mean([(q, float(way == to)) for q, way in ways], len(long) - len(given)) for to in (1, -1))
    n_same, n_turned = (sum(way == to for _, way in ways) for to in (1, -1))
    chance, p = sum(1 / factorial(len(row.shown)) for row in given) / len(given), flip_p_of_rows(ways, draws.clusters)
    more = same if n_same >= n_turned else turned
    beyond = p is not None and p < LEVEL and more.ci_low is not None and more.ci_low > chance
    said = f"{n_same:,} of {len(given):,} lists came back exactly in the order shown, and {n_turned:,} exactly in its "
    said += f"reverse: {'the judge goes by the order' if beyond else 'no sign that the judge goes by the order'}."
    value, low, high = (100 * (part or 0.0) for part in (more.value, more.ci_low, more.ci_high))
    warning = (
        f"The judge may be repeating the order it was shown: {max(n_same, n_turned):,} of {len(given):,} lists came "
        f"back exactly {'so' if more is same else 'in its reverse'} ({value:.1f}% [{low:.1f}, {high:.1f}]), and "
        f"{100 * chance:.1f}% would by chance. If so, the ratings say nothing."
    )
    found = AuditFinding(key="order_echoed", figure=same, fair=round(chance, 9), p=p, sentence=said)
    return (found.model_copy(update={"warning": warning}) if beyond else found,)


def audit_places(
    games: Sequence[Game], agents: Sequence[str], draws: Resamples, found: Sequence[Verdict] | None = None
) -> tuple[AuditFinding, ...]:
    """The tau of place and rank (-1 to 1, 0 is fair), and the share of its pairs that each place won (0.5 is fair).

    With presentations in balanced orders, each followed by its reverse, quality stands in every place as often as in
    any other: what earlier answers win beyond half of their pairs is the place's doing. The test flips the signs of
    whole clusters' sums. Of one list, the pairs won by the one that stands earlier less those lost, as a share of all
    pairs, are Kendall's tau between the order shown and the order given (Biometrika 30, 1938).

    found: the games' verdicts. Empty where no answers were ranked together. A warning is set where a place is favoured
    (p below 5%) and another agent would lead by one presentation alone. The places' own p are Holm's.
    """
    put = [game for game in games if game.place_a and game.place_b and game.place_a != game.place_b]
    if not put:
        return ()
    rows: dict[int, _Rows] = {}
    for game in put:
        a = None if game.winner is None else {"a": 1, "tie": 0, "b": -1}[game.winner]
        rows.setdefault(game.place_a or 0, []).append((game.query_id, a))
        rows.setdefault(game.place_b or 0, []).append((game.query_id, None if a is None else -a))
    rows = dict(sorted(rows.items()))
    places = []
    holms = holm([flip_p_of_rows(_known(some), draws.clusters) for some in rows.values()])
    for (at, some), p in zip(rows.items(), holms, strict=True):
        known = _known(some)
        share = draws.mean([(query, (1 + won) / 2) for query, won in known], len(some) - len(known))
        said = "Of the pairs in it; a tie is half a win."
        if p is not None and p < LEVEL:
            said = f"It wins {'more' if (share.value or 0.0) > 0.5 else 'less'} than half of its pairs, beyond chance."
        place = AuditFinding(key="place_score", subject=str(at), figure=share, fair=0.5, p=p, sentence=said)
        places.append(place)
    # Kendall's tau over all lists; who leads by all presentations, and would by each alone.
    won = [(g.query_id, 0 if g.winner == "tie" else 1 if g.winner == g.first else -1) for g in put if g.winner]
    tau = draws.mean([(query, float(sign)) for query, sign in won], len(put) - len(won), limits=(-1.0, 1.0))
    p = flip_p_of_rows(won, draws.clusters)
    favoured = _favoured(tau, p, places)
    every = leaders(verdicts(games) if found is None else found, agents, draws)
    numbers = sorted({game.presentation for game in games if game.presentation is not None})
    single = [leaders(verdicts([g for g in games if g.presentation == number]), agents, draws) for number in numbers]
    others = [alone for alone in single if alone != every]
    if favoured is None:
        said = "No place is favoured as far as these lists can tell."
    elif len(single) == 1:
        said = f"The judge favours {favoured}; places are balanced over the queries, which leaves noise and no bias."
    else:
        said = f"The judge favours {favoured}; each pair is seen both ways, so the ratings are not moved by it."
    if len(single) > 1 and not others:
        said += f" By any presentation alone, {named(every)} would lead as well."
    elif len(single) > 1:
        said += f" By one presentation alone, {'; or '.join(dict.fromkeys(map(named, single)))} would lead."
    warning = None
    if favoured and others:
        warning = f"The judge favours {favoured}: by one presentation alone {named(others[0])} would lead, by all "
        warning += f"together {named(every)}. The ratings are from all presentations together."
    trend = AuditFinding(key="place_trend", figure=tau, fair=0.0, p=p, sentence=said, warning=warning)
    return (trend, *places)


_Rows = list[tuple[str, int | None]]
"""Query, and what a pair gave: 1 won, 0 tied, -1 lost, None failed."""


def _known(rows: _Rows) -> list[tuple[str, int]]:
    return [(query, won) for query, won in rows if won is not None]


def _favoured(tau: Figure, p: float | None, places: Sequence[AuditFinding]) -> str | None:
    """What the judge favours beyond chance, in words."""
    if p is not None and p < LEVEL and tau.value:
        return f"answers shown {'earlier' if tau.value > 0 else 'later'}"
    sure = [one for one in places if one.p is not None and one.p < LEVEL and one.figure.value is not None]
    if not sure:
        return None
    best = max(sure, key=lambda one: one.figure.value or 0.0)
    return f"the answer in place {best.subject}" if (best.figure.value or 0.0) > 0.5 else "some places over others"
