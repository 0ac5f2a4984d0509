"""A panel of judges: each by itself, how far they disagree, and what each is worth by judge-aware Bradley-Terry."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragassay.experiment.settings import Experiment
from ragassay.records import Figure, for_want_of_an_answer

from ..agreement.among_judges import among_labels, among_verdicts
from ..inputs.findings import Findings
from ..ratings.judge_aware import JudgeAware, judged_games, rate_by_judges
from ..ratings.leader import leaders
from ..ratings.length_control import Controlled
from ..ratings.verdicts import Verdict
from ..ratings.win_table import win_rate
from ..results import AmongJudges, Audit, JudgeOfPanel, PanelOfJudges
from ..statistics.resamples import Resamples
from .failures import audit_failures, failed_replies
from .judge_audit import audit_judge
from .length import audit_length, lengths_of

Agents = Sequence[str]

PASSAGES = "passages"
"""What disagreement on the relevance of passages is called; answers have a criterion of that name."""


def audit_of(
    findings: Findings,
    found: Sequence[Verdict],
    own: Sequence[Verdict],
    experiment: Experiment,
    agents: Agents,
    draws: Resamples,
    control: Callable[[], Controlled] | None = None,
) -> Audit:
    """The audit of the judge, or of a panel as one: the effect of length on its verdicts, and what failed.

    found: the verdicts, of a panel the majority's; own: each judge's; agents: best first. Places, repeats and families
    are each judge's own (`panel_of_judges`). control: of length, if it has begun (`audit_length`).
    """
    if not findings.judges:
        return audit_judge(findings, found, experiment, agents, draws, control)
    length_findings, length = audit_length(found, lengths_of(findings.material.answers), agents, draws, control)
    failed = audit_failures(found, agents, draws)
    return Audit(
        findings=(*length_findings, failed),
        length=length,
        failures=failed_replies(findings),
        n_identical=sum(one.identical for one in own),
    )


def panel_of_judges(
    findings: Findings,
    found: Sequence[Verdict],
    own: Sequence[Verdict],
    experiment: Experiment,
    agents: Agents,
    draws: Resamples,
) -> PanelOfJudges | None:
    """The judges in the panel's order; None of a single judge. found, own, agents: as of `audit_of`."""
    if not findings.judges:
        return None
    rated = rate_by_judges(judged_games(findings.games, findings.material.agents, findings.queries), draws)
    told = tuple(_judge(name, findings, found, own, rated, experiment, agents, draws) for name in findings.judges)
    return PanelOfJudges(
        judges=told,
        disagreement=_disagreement(findings, own, experiment.compare.bootstrap, draws),
        ratings={agent: rated.ratings[agent] for agent in agents},
        converged=rated.converged,
        notes=rated.notes,
    )


def warnings_of(panel: PanelOfJudges | None) -> tuple[str, ...]:
    """The warnings of each judge's audit, with its name, and what judge-aware ratings have to say of it."""
    if panel is None:
        return ()
    told = [f"{one.judge}: {row.warning}" for one in panel.judges for row in one.audit.findings if row.warning]
    return (*told, *(f"{note}." for note in panel.notes))


def _disagreement(
    findings: Findings, own: Sequence[Verdict], bootstrap: int, draws: Resamples
) -> tuple[AmongJudges, ...]:
    """On passages, on each criterion of answers, and on games, in this order."""
    passages = [row for judge in findings.judges.values() for row in judge.relevance]
    answers = [row for judge in findings.judges.values() for row in judge.pointwise]
    of_passages = among_labels(passages, draws.clusters, bootstrap=bootstrap, seed=draws.seed)
    return (
        *(one.model_copy(update={"criterion": PASSAGES}) for one in of_passages),
        *among_labels(answers, draws.clusters, bootstrap=bootstrap, seed=draws.seed),
        among_verdicts(own, draws.clusters, bootstrap=bootstrap, seed=draws.seed),
    )


def _judge(
    name: str,
    findings: Findings,
    found: Sequence[Verdict],
    every: Sequence[Verdict],
    rated: JudgeAware,
    experiment: Experiment,
    agents: Agents,
    draws: Resamples,
) -> JudgeOfPanel:
    alone = findings.of_judge(name)
    own = [one for one in every if one.judge == name]
    as_only = experiment.model_copy(update={"judge": experiment.judge.model_copy(update={"model": name})})
    asked = [row for row in (*alone.relevance, *alone.pointwise) if not for_want_of_an_answer(row.error)]
    labels = [(row.query_id, float(row.error is not None)) for row in asked]
    nothing = Figure(value=None, n=0, n_failed=len(alone.games))
    return JudgeOfPanel(
        judge=name,
        failed=draws.mean(labels, 0),
        agrees=_agrees(own, found, draws),
        reliability=rated.reliability.get(name, nothing),
        position=rated.position.get(name),
        leaders=leaders(own, agents, draws),
        win_rate=win_rate(own, agents, draws),
        audit=audit_judge(alone, own, as_only, agents, draws).model_copy(update={"failures": ()}),
    )


def _agrees(own: Sequence[Verdict], found: Sequence[Verdict], draws: Resamples) -> Figure:
    """The share of games on which a judge's verdict is the panel's."""
    panel = {(one.query_id, one.agent_a, one.agent_b): one.winner for one in found}
    played = [one for one in own if not one.unplayed]
    pairs = [(one.query_id, one.winner, panel.get((one.query_id, one.agent_a, one.agent_b))) for one in played]
    known = [(query, float(mine == theirs)) for query, mine, theirs in pairs if mine is not None and theirs is not None]
    return draws.mean(known, len(pairs) - len(known))
