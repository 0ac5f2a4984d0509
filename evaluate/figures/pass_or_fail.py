"""Agent Evaluation's verdicts in the report: how many answers pass, and what the others fail of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragassay.experiment.workspace import Workspace

from ..judging.engine.evaluator import Evaluator
from ..judging.judges.agent_evaluation import FAMILY
from ..results import PassOrFail
from ..statistics.clustered import (
    Values,
)
from ..statistics.resamples import Resamples
from .agent_evaluation_rows import read_judged
from .root_cause import fix_of

_PASSED: Mapping[str, float] = {"pass": 1.0, "fail": 0.0}


@dataclass
class Verdicts:
    """One agent's: passed is by query, 1 or 0, None where undecided; causes says how many failed of what."""

    passed: Values = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)


def verdicts_by_agent(workspace: Workspace, evaluators: Sequence[Evaluator]) -> dict[str, Verdicts]:
    """Empty where no judge of Agent Evaluation takes part. Raises what `read_judged` raises."""
    verdicts: dict[str, Verdicts] = {}
    if not any(evaluator.family == FAMILY for evaluator in evaluators):
        return verdicts
    for row in read_judged(workspace).rows:
        mine, found = verdicts.setdefault(row.answer.agent, Verdicts()), row.overall
        mine.passed[row.query.id] = _PASSED.get(found.verdict)
        if found.root_cause is not None:
            mine.causes[found.root_cause] += 1
    return verdicts


def pass_or_fail(verdicts: Mapping[str, Verdicts], draws: Resamples) -> dict[str, PassOrFail]:
    """Agent to the share that pass, and its root causes, the commonest first."""
    return {
        agent: PassOrFail(
            passed=draws.figure(mine.passed, (0.0, 1.0)),
            root_causes=dict(sorted(mine.causes.items(), key=lambda item: (-item[1], item[0]))),
            fixes={cause: fix_of(cause) for cause in sorted(mine.causes)},
        )
        for agent, mine in verdicts.items()
    }
