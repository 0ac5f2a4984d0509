"""How much of the evidence the report has room for: all of a small run, of a large one what matters first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import IntEnum

from markupsafe import Markup


class Detail(IntEnum):
    """What a query is shown with; each level has all that stands before it."""

    LABELS = 1
    TEXTS = 2
    REASONS = 3


Rendered = tuple[Markup, frozenset[Hashable]]
"""A query as it is shown, and what it needs besides that stands once for all queries."""


STEPS = ((Detail.LABELS, 1.0), (Detail.REASONS, 1 / 3), (Detail.TEXTS, 1.0), (Detail.REASONS, 1.0))
"""What is handed out one after the other, and at most what share of the room that is left then."""


def fit(
    n: int, order: Sequence[int], render: Callable[[int, Detail], Rendered], sizes: Mapping[Hashable, int], room: int
) -> tuple[list[Detail | None], list[Markup]]:
    """How each of `n` queries is shown in at most `room` bytes, and its markup; None and nothing where it is not shown.

    All get labels before one gets more; then each of `STEPS` goes in `order` until the first that does not fit, so
    that a query never has more than one before it. sizes: the bytes of what queries share, taken once.
    """
    details: list[Detail | None] = [None] * n
    shown, shared = [Markup("")] * n, set[Hashable]()
    for detail, share in STEPS:
        left = int(room * share)
        for i in order:
            if (details[i] or 0) >= detail:
                continue
            markup, needs = render(i, detail)
            cost = size(markup) - size(shown[i]) + sum(sizes.get(key, 0) for key in needs - shared)
            if cost > left or (detail > Detail.LABELS and details[i] is None):
                break
            left, room = left - cost, room - cost
            shared |= needs
            details[i], shown[i] = detail, markup
    return details, shown


def size(text: str) -> int:
    """In bytes, as the page is written."""
    return len(text.encode())
