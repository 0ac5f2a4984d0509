"""The judge's favourite place among answers ranked together.

With presentations in balanced orders, each followed by its reverse, quality stands in every place as often as in any
other: what earlier answers win beyond half of their pairs is the place's doing. The test flips the signs of whole
clusters' sums. Of one list, the pairs won by the one that stands earlier less those lost, as a share of all pairs, are
Kendall's tau between the order shown and the order given (Biometrika 30, 1938).
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records import Figure, Game

from ..ratings.leader import leaders, named
from ..ratings.verdicts import Verdict, verdicts
from ..results import AuditFinding
from ..statistics.holm import holm
from ..statistics.paired_comparison import LEVEL
from ..statistics.resamples import Resamples
from ..statistics.sign_flip import flip_p_of_rows


def audit_places(
    games: Sequence[Game], agents: Sequence[str], draws: Resamples, found: Sequence[Verdict] | None = None
) -> tuple[AuditFinding, ...]:
    """The tau of place and rank (-1 to 1, 0 is fair), and the share of its pairs that each place won (0.5 is fair).

    found: the games' verdicts. Empty where no answers were ranked together. A warning is set where a place is favoured
    (p below 5%) and another agent would lead by one presentation alone. The places' own p are Holm's.
    """
    put = [game for game in games if game.place_a and game.place_b and game.place_a != game.place_b]
    if not put:
        return ()
    rows = _by_place(put)
    p = holm([flip_p_of_rows(_known(some), draws.clusters) for some in rows.values()])
    places = tuple(_place(at, some, one, draws) for (at, some), one in zip(rows.items(), p, strict=True))
    every = leaders(verdicts(games) if found is None else found, agents, draws)
    return (_trend(put, places, every, _single(games, agents, draws), draws), *places)


_Rows = list[tuple[str, int | None]]
"""Query, and what a pair gave: 1 won, 0 tied, -1 lost, None failed."""


def _by_place(put: Sequence[Game]) -> dict[int, _Rows]:
    rows: dict[int, _Rows] = {}
    for game in put:
        a = None if game.winner is None else {"a": 1, "tie": 0, "b": -1}[game.winner]
        rows.setdefault(game.place_a or 0, []).append((game.query_id, a))
        rows.setdefault(game.place_b or 0, []).append((game.query_id, None if a is None else -a))
    return dict(sorted(rows.items()))


def _known(rows: _Rows) -> list[tuple[str, int]]:
    return [(query, won) for query, won in rows if won is not None]


def _place(at: int, rows: _Rows, p: float | None, draws: Resamples) -> AuditFinding:
    known = _known(rows)
    share = draws.mean([(query, (1 + won) / 2) for query, won in known], len(rows) - len(known))
    said = "Of the pairs in it; a tie is half a win."
    if p is not None and p < LEVEL:
        said = f"It wins {'more' if (share.value or 0.0) > 0.5 else 'less'} than half of its pairs, beyond chance."
    return AuditFinding(key="place_score", subject=str(at), figure=share, fair=0.5, p=p, sentence=said)


def _trend(
    put: Sequence[Game],
    places: Sequence[AuditFinding],
    every: tuple[str, ...],
    single: Sequence[tuple[str, ...]],
    draws: Resamples,
) -> AuditFinding:
    """Kendall's tau over all lists; every, single: who leads by all presentations, and would by each alone."""
    rows = _known([(game.query_id, _to_earlier(game)) for game in put])
    tau = draws.mean([(query, float(won)) for query, won in rows], len(put) - len(rows), limits=(-1.0, 1.0))
    p = flip_p_of_rows(rows, draws.clusters)
    favoured = _favoured(tau, p, places)
    others = [alone for alone in single if alone != every]
    return AuditFinding(
        key="place_trend",
        figure=tau,
        fair=0.0,
        p=p,
        sentence=_of_trend(favoured, len(single)) + _of_presentations(single, every),
        warning=f"The judge favours {favoured}: by one presentation alone {named(others[0])} would lead, by all "
        f"together {named(every)}. The ratings are from all presentations together."
        if favoured and others
        else None,
    )


def _to_earlier(game: Game) -> int | None:
    return None if game.winner is None else 0 if game.winner == "tie" else 1 if game.winner == game.first else -1


def _favoured(tau: Figure, p: float | None, places: Sequence[AuditFinding]) -> str | None:
    """What the judge favours beyond chance, in words."""
    if p is not None and p < LEVEL and tau.value:
        return f"answers shown {'earlier' if tau.value > 0 else 'later'}"
    sure = [one for one in places if one.p is not None and one.p < LEVEL and one.figure.value is not None]
    if not sure:
        return None
    best = max(sure, key=lambda one: one.figure.value or 0.0)
    return f"the answer in place {best.subject}" if (best.figure.value or 0.0) > 0.5 else "some places over others"


def _single(games: Sequence[Game], agents: Sequence[str], draws: Resamples) -> list[tuple[str, ...]]:
    """Who would lead by each presentation alone."""
    numbers = sorted({game.presentation for game in games if game.presentation is not None})
    return [leaders(verdicts([g for g in games if g.presentation == number]), agents, draws) for number in numbers]


def _of_trend(favoured: str | None, presentations: int) -> str:
    if favoured is None:
        return "No place is favoured as far as these lists can tell."
    if presentations == 1:
        return f"The judge favours {favoured}; places are balanced over the queries, which leaves noise and no bias."
    return f"The judge favours {favoured}; each pair is seen both ways, so the ratings are not moved by it."


def _of_presentations(single: Sequence[tuple[str, ...]], every: tuple[str, ...]) -> str:
    if len(single) < 2:
        return ""
    if all(alone == every for alone in single):
        return f" By any presentation alone, {named(every)} would lead as well."
    return f" By one presentation alone, {'; or '.join(dict.fromkeys(map(named, single)))} would lead."
