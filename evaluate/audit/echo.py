"""Whether the judge gives back the order in which it was shown answers that it is to rank.

A list that comes back in the very order shown, or in its reverse, is no sign by itself: one of n answers does by chance
in n! cases, and of a sober judge's two presentations, one the reverse of the other, each may. So what is held against
chance is also how much more often the one than the other. Lists of two are pairs: the audit of places sees to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from ragassay.records import Figure, RankedList

from ..results import AuditFinding
from ..statistics.paired_comparison import LEVEL
from ..statistics.resamples import Resamples
from ..statistics.sign_flip import flip_p_of_rows

FEWEST_PLACES = 3
"""A list of fewer answers says nothing of it."""


def audit_echo(lists: Sequence[RankedList], draws: Resamples) -> tuple[AuditFinding, ...]:
    """The share of lists that came back in the very order shown; empty where none of three or more has an order.

    p: of as many in that order as in its reverse, two-sided. A warning is set where one of the two is more frequent
    than the other (p below 5%) and, by its interval, than chance.
    """
    long = [row for row in lists if len(row.shown) >= FEWEST_PLACES]
    given = [row for row in long if row.order is not None]
    if not given:
        return ()
    ways = [(row.query_id, _as_shown(row)) for row in given]
    same, turned = (draws.mean([(q, float(way == to)) for q, way in ways], len(long) - len(given)) for to in (1, -1))
    n_same, n_turned = (sum(way == to for _, way in ways) for to in (1, -1))
    chance, p = sum(1 / factorial(len(row.shown)) for row in given) / len(given), flip_p_of_rows(ways, draws.clusters)
    more = same if n_same >= n_turned else turned
    beyond = p is not None and p < LEVEL and more.ci_low is not None and more.ci_low > chance
    said = f"{n_same:,} of {len(given):,} lists came back exactly in the order shown, and {n_turned:,} exactly in its "
    said += f"reverse: {'the judge goes by the order' if beyond else 'no sign that the judge goes by the order'}."
    warning = _warning(more, more is same, len(given), chance) if beyond else None
    row = AuditFinding(key="order_echoed", figure=same, fair=round(chance, 9), p=p, sentence=said, warning=warning)
    return (row,)


def _warning(more: Figure, same: bool, n: int, chance: float) -> str:
    value, low, high = (100 * (part or 0.0) for part in (more.value, more.ci_low, more.ci_high))
    how = "so" if same else "in its reverse"
    return (
        f"The judge may be repeating the order it was shown: {round(value * n / 100):,} of {n:,} lists came back "
        f"exactly {how} ({value:.1f}% [{low:.1f}, {high:.1f}]), and {100 * chance:.1f}% would by chance. If so, the "
        "ratings say nothing."
    )


def _as_shown(row: RankedList) -> int:
    """1 where the order given is the one shown, -1 where it is the reverse, else 0."""
    given, shown = ([frozenset(part) for part in parts] for parts in (row.order or (), row.shown))
    return 1 if given == shown else -1 if given == shown[::-1] else 0
