"""Agent Evaluation's verdicts in the report: how many answers pass, and what the others fail of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragassay.experiment.workspace import Workspace
from ragassay.perturbed import perturbed_from

from ..judging.engine.evaluator import Evaluator
from ..judging.judges.agent_evaluation import FAMILY
from ..results import PassOrFail
from ..statistics.clustered import Values
from ..statistics.resamples import Resamples
from .agent_evaluation_rows import read_judged
from .root_cause import OverallVerdict, fix_of

PASSED: Mapping[OverallVerdict, float | None] = {"pass": 1.0, "fail": 0.0, "undecided": None}


@dataclass
class AgentOverall:
    """One agent's overall verdicts. passed: by query, 1 or 0, None where undecided. causes: how many failed of what."""

    passed: Values = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)


def overall_by_agent(workspace: Workspace, evaluators: Sequence[Evaluator]) -> dict[str, AgentOverall]:
    """Empty where no judge of Agent Evaluation takes part. Raises what `read_judged` raises."""
    found: dict[str, AgentOverall] = {}
    if not any(evaluator.family == FAMILY for evaluator in evaluators):
        return found
    for row in read_judged(workspace).rows:
        if perturbed_from(row.query) is not None:
            continue
        mine, overall = found.setdefault(row.answer.agent, AgentOverall()), row.overall
        mine.passed[row.query.id] = PASSED[overall.verdict]
        if overall.root_cause is not None:
            mine.causes[overall.root_cause] += 1
    return found


def pass_or_fail(overall: Mapping[str, AgentOverall], draws: Resamples) -> dict[str, PassOrFail]:
    """Agent to the share that pass, and its root causes, the commonest first."""
    return {
        agent: PassOrFail(
            passed=draws.figure(mine.passed, (0.0, 1.0)),
            root_causes=commonest_first(mine.causes),
            fixes={cause: fix_of(cause) for cause in sorted(mine.causes)},
        )
        for agent, mine in overall.items()
    }


def commonest_first(causes: Counter[str]) -> dict[str, int]:
    """What is counted to how often, like counts by name."""
    return dict(sorted(causes.items(), key=lambda item: (-item[1], item[0])))
