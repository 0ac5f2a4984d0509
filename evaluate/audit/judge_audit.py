"""The judge, audited: what it may have got wrong, each as a figure with what it means for the ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragassay.experiment.settings import Experiment

from ..inputs.findings import Findings
from ..ratings.length_control import Controlled
from ..ratings.verdicts import Verdict
from ..results import Audit, PanelOfJudges
from ..statistics.resamples import Resamples
from .echo import audit_echo
from .failures import audit_failures, failed_replies
from .family import audit_family, writers_of
from .length import audit_length, lengths_of
from .place import audit_places
from .position import audit_position
from .repeats import audit_repeats


def audit_judge(
    findings: Findings,
    found: Sequence[Verdict],
    experiment: Experiment,
    agents: Sequence[str],
    draws: Resamples,
    control: Callable[[], Controlled] | None = None,
) -> Audit:
    """Every finding, in the report's order. `agents` are best first; `found` are the verdicts on `findings.games`.

    control: of length, if it has begun (`audit_length`).
    """
    length_findings, length = audit_length(found, lengths_of(findings.material.answers), agents, draws, control)
    writers, queries = writers_of(experiment), findings.material.queries
    return Audit(
        findings=(
            *audit_position(findings.games, agents, draws, found),
            *audit_places(findings.games, agents, draws, found),
            *audit_echo(findings.lists, draws),
            *audit_repeats(findings.repeats, findings.relevance, findings.pointwise, findings.games, draws.clusters),
            *length_findings,
            *audit_family(experiment.judge.model, writers, queries, found, agents, draws),
            audit_failures(found, agents, draws),
        ),
        length=length,
        failures=failed_replies(findings),
        n_identical=sum(one.identical for one in found),
    )


_FIRST = ("order_echoed", "flip_rate")


def guessing(audit: Audit) -> tuple[str, ...]:
    """That the judge may repeat the order shown, or guess, where it may: that goes before all else a reader is told."""
    found = sorted((one for one in audit.findings if one.key in _FIRST), key=lambda one: _FIRST.index(one.key))
    return tuple(finding.warning for finding in found if finding.warning)


class Guesses(NamedTuple):
    """Whether the judge may be guessing as far as its verdicts tell, and the sentences that say so, or ''."""

    guesses: bool
    sentence: str


def judge_guesses(audit: Audit, panel: PanelOfJudges | None = None) -> Guesses:
    """Of the judge, by `guessing`; of a panel, where at least half of its judges may be: the others have no majority.

    audit: of the judge, or of the panel as one, which says nothing of a single judge's guessing.
    """
    if panel is None:
        said = guessing(audit)
        return Guesses(bool(said), " ".join(said))
    told = [(one.judge, guessing(one.audit)) for one in panel.judges]
    named = [f"{judge}: {' '.join(said)}" for judge, said in told if said]
    return Guesses(2 * len(named) >= len(told), " ".join(named))


def warnings(audit: Audit) -> tuple[str, ...]:
    """What could have changed the winner, for the head of the report."""
    return tuple(finding.warning for finding in audit.findings if finding.warning)
