"""The judge's taste for length: who wins by the answers' lengths, and the ratings with length held equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ragassay.arrays import Floats
from ragassay.cores import Helpers
from ragassay.records import Answer, Figure

from ..ratings.leader import named
from ..ratings.length_control import Controlled, control_length
from ..ratings.verdicts import Verdict
from ..ratings.win_table import Contests, contests
from ..results import AuditFinding, LengthControl
from ..statistics.paired_comparison import LEVEL
from ..statistics.resamples import Resamples
from ..statistics.sign_flip import flip_p_of_rows

Lengths = Mapping[tuple[str, str], int]
"""(query id, agent) to the characters of its answer, where it gave one."""

_SAME_POINTS = 1e-6
"""Ratings nearer than this are the same but for rounding."""


def lengths_of(answers: Mapping[tuple[str, str], Answer]) -> dict[tuple[str, str], int]:
    """The length of every answer there is, in characters."""
    return {key: len(answer.answer) for key, answer in answers.items() if answer.answer is not None}


def begin_control(
    verdicts: Sequence[Verdict],
    lengths: Lengths,
    agents: Sequence[str],
    draws: Resamples,
    helpers: Helpers,
    table: Contests | None = None,
) -> Callable[[], Controlled]:
    """`control_length` of the verdicts, waited for when it is asked for; table: their contests, if they are at hand."""
    found = _with_lengths(verdicts, lengths)
    if table is None or len(found) < len(verdicts):
        table = contests(found, agents, draws.queries, planned=verdicts)
    return helpers.start(control_length, table, _differences(table, lengths), draws)


def _with_lengths(verdicts: Sequence[Verdict], lengths: Lengths) -> list[Verdict]:
    return [v for v in verdicts if (v.query_id, v.agent_a) in lengths and (v.query_id, v.agent_b) in lengths]


def audit_length(
    verdicts: Sequence[Verdict],
    lengths: Lengths,
    agents: Sequence[str],
    draws: Resamples,
    control: Callable[[], Controlled] | None = None,
) -> tuple[tuple[AuditFinding, ...], LengthControl]:
    """The share of decided games that the longer answer won (0.5 is fair), and the effect of length on the log odds.

    A warning is set where length moves the verdicts beyond chance and another agent leads once it is held equal. A game
    without both lengths has no part in it. control: what `begin_control` of the same gave, if it has begun.
    """
    share, p = _longer_wins(_with_lengths(verdicts, lengths), lengths, draws)
    fitted = (control or begin_control(verdicts, lengths, agents, draws, Helpers(False)))()
    plain, held = _first(fitted.plain, agents), _first(fitted.controlled, agents)
    moved = fitted.effect.ci_low is not None and fitted.effect.ci_high is not None
    moved = moved and (float(fitted.effect.ci_low or 0.0) > 0 or float(fitted.effect.ci_high or 0.0) < 0)
    said = _of_effect(fitted, moved, plain, held)
    findings = (
        AuditFinding(key="longer_wins", figure=share, fair=0.5, p=p, sentence=_of_share(share, p)),
        AuditFinding(
            key="length_effect",
            figure=fitted.effect,
            fair=0.0,
            sentence=said,
            warning=_warning(fitted.effect, plain, held) if moved and plain != held else None,
        ),
    )
    return findings, LengthControl(
        mean_length=_mean_lengths(lengths, agents, draws),
        plain={agent: fitted.plain[agent] for agent in agents},
        controlled={agent: fitted.controlled[agent] for agent in agents},
        note=fitted.note,
    )


def _differences(table: Contests, lengths: Lengths) -> Floats:
    rows = zip(table.query, table.a, table.b, strict=True)
    named_rows = ((table.queries[q], table.agents[a], table.agents[b]) for q, a, b in rows)
    return np.array([lengths[q, a] - lengths[q, b] for q, a, b in named_rows], dtype=np.float64)


def longer_won(found: Sequence[Verdict], lengths: Lengths) -> list[tuple[str, bool]]:
    """(query id, whether the longer answer won) of each game that was decided between answers of unequal length.

    What "the longer answer wins" means everywhere: a game is a pair of answers to a query, decided where its verdict
    over all orders shown names one of them; longer is what has more characters. Lengths of all `found` must be there.
    """
    gaps = [lengths[v.query_id, v.agent_a] - lengths[v.query_id, v.agent_b] for v in found]
    decided = [(v, gap) for v, gap in zip(found, gaps, strict=True) if v.winner in ("a", "b") and gap]
    return [(v.query_id, (gap > 0) == (v.winner == "a")) for v, gap in decided]


def _longer_wins(found: Sequence[Verdict], lengths: Lengths, draws: Resamples) -> tuple[Figure, float | None]:
    won = longer_won(found, lengths)
    failed = sum(v.winner is None for v in found)
    share = draws.mean([(query, float(longer)) for query, longer in won], failed)
    return share, flip_p_of_rows([(query, 1 if longer else -1) for query, longer in won], draws.clusters)


def _mean_lengths(lengths: Lengths, agents: Sequence[str], draws: Resamples) -> dict[str, Figure]:
    return {
        agent: draws.figure(
            {query: float(n) if (n := lengths.get((query, agent))) is not None else None for query in draws.queries}
        )
        for agent in agents
    }


def _first(ratings: Mapping[str, Figure], agents: Sequence[str]) -> tuple[str, ...]:
    """The agents with the highest rating."""
    known = {agent: value for agent in agents if (value := ratings[agent].value) is not None}
    return tuple(agent for agent, value in known.items() if value > max(known.values()) - _SAME_POINTS)


def _of_share(share: Figure, p: float | None) -> str:
    if share.value is None:
        return "No game was decided between answers of different length."
    if p is None or p >= LEVEL:
        return f"Over {share.n:,} decided games, longer answers win no more often than shorter ones, beyond chance."
    side = "longer" if share.value > 0.5 else "shorter"
    return f"The {side} answer wins more often than chance: because it is better, or because the judge likes it {side}."


def _of_effect(fitted: Controlled, moved: bool, plain: Sequence[str], held: Sequence[str]) -> str:
    if fitted.effect.value is None:
        return f"Length cannot be held equal here: {fitted.note}."
    end = f"{named(held)} leads {'with and without' if plain == held else 'with'} length held equal"
    end += "" if plain == held else f", {named(plain)} without"
    if not moved:
        return f"Length does not move the verdicts as far as these games can tell; {end}."
    side = "longer" if fitted.effect.value > 0 else "shorter"
    return f"Between equal agents, the {side} answer has the better odds; {end}."


def _warning(effect: Figure, plain: Sequence[str], held: Sequence[str]) -> str:
    side = "longer" if (effect.value or 0.0) > 0 else "shorter"
    return (
        f"The judge may like {side} answers: {named(plain)} leads by the verdicts, {named(held)} once length is held "
        "equal. Read a few of their answers before you choose."
    )
