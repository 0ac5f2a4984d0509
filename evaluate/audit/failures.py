"""Failed and refused replies by stage and model, and whether the games that failed could have changed the winner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ragassay.records import Figure, StageUsage

from ..inputs.findings import Findings
from ..ratings.leader import leaders, named
from ..ratings.verdicts import Verdict
from ..results import AuditFinding, FailedReplies
from ..statistics.resamples import Resamples, rounded


def failed_replies(findings: Findings) -> tuple[FailedReplies, ...]:
    """A row for each stage and model on record."""
    return tuple(
        FailedReplies(stage=row.stage, model=row.model, failed=_share(row), n_refused=row.n_refused)
        for row in findings.usage
    )


def _share(row: StageUsage) -> Figure:
    """The share of the calls, with Jeffreys' interval (Brown, Cai and DasGupta, Statistical Science 16(2), 2001)."""
    from scipy.special import betaincinv

    if not row.calls:
        return Figure(value=None, n=0, n_failed=row.n_failed)
    failed, rest = min(row.n_failed, row.calls), max(row.calls - row.n_failed, 0)
    low = float(betaincinv(failed + 0.5, rest + 0.5, 0.025)) if failed else 0.0
    high = float(betaincinv(failed + 0.5, rest + 0.5, 0.975)) if rest else 1.0
    return rounded(failed / row.calls, row.calls, 0, low, high)


def audit_failures(found: Sequence[Verdict], agents: Sequence[str], draws: Resamples) -> AuditFinding:
    """The share of the games put to the judge that it failed on, and who would lead had each gone against the leader.

    agents: best first. A warning is set where another agent would then lead, or stand level. Games that were not played
    since an answer had failed are no failure of the judge (`figures/failures_at_bottom.py`).
    """
    played = [v for v in found if not v.unplayed]
    n_failed = sum(v.winner is None for v in played)
    share = draws.mean([(v.query_id, float(v.winner is None)) for v in played], 0)
    now = leaders(played, agents, draws) if n_failed else ()
    rivals = _could_lead(played, now, agents, draws) if now else []
    return AuditFinding(
        key="failed_games",
        figure=share,
        fair=0.0,
        sentence=(_sentence(n_failed, now, rivals) if played else "No game was played.")
        + _unplayed(len(found) - len(played)),
        warning=f"{n_failed:,} of {len(played):,} games failed, enough to matter: had they gone against {named(now)}, "
        f"{named(rivals)} could lead."
        if rivals
        else None,
    )


def _could_lead(found: Sequence[Verdict], now: Sequence[str], agents: Sequence[str], draws: Resamples) -> list[str]:
    """The agents that would lead, alone or level, had every failed game gone as well for them as it could."""
    rivals = (agent for agent in agents if agent not in now)
    return [rival for rival in rivals if rival in leaders(list(_against(found, now, rival)), agents, draws)]


def _against(found: Sequence[Verdict], now: Sequence[str], rival: str) -> Iterable[Verdict]:
    """The verdicts with the failed ones lost by the leaders and won by the rival; what is of neither stays out."""
    for v in found:
        if v.winner is not None or not {v.agent_a, v.agent_b} & {*now, rival}:
            yield v
        elif rival in (v.agent_a, v.agent_b):
            yield replace(v, winner="a" if v.agent_a == rival else "b", error=None)
        else:
            yield replace(v, winner="b" if v.agent_a in now else "a", error=None)


def _unplayed(n: int) -> str:
    if not n:
        return ""
    return f" {n:,} more {'was' if n == 1 else 'were'} not played, since an answer had failed."


def _sentence(n_failed: int, now: Sequence[str], rivals: Sequence[str]) -> str:
    if not n_failed:
        return "Every game has a verdict."
    if rivals:
        return f"Had they gone against {named(now)}, {named(rivals)} could lead."
    return f"They are left out of the ratings; even had all of them gone against {named(now)}, no other would lead."
