"""Flips: answers that cross what is good enough when their question is asked in changed words.

Good enough is a label from the criterion's threshold on (by its direction); where its source names none, from three
quarters of its scale, which is H2O Eval Studio's default. What has no upper end has no such place, and no flips.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import isinf

from ragassay.perturbed import kind_of
from ragassay.records import Assessment, Figure, Judgment

from ..inputs.findings import Findings
from ..inputs.labels import HIGHEST
from ..inputs.perturbed import pairs_of
from ..inputs.sections import source_clusters
from ..judging.engine.evaluator import Criterion, Evaluator
from ..results import Perturbed
from ..statistics.resamples import Resamples, resamples

DEFAULT_SHARE = 0.75
"""Of a scale, from which a label is good enough."""

ALL = "all"

Good = Mapping[tuple[str, str], bool | None]
"""(query, agent) to whether the answer is good enough; None where that could not be judged."""


def robustness(
    findings: Findings, rows: Sequence[Assessment], evaluators: Sequence[Evaluator], agents: Sequence[str]
) -> Perturbed | None:
    """The flips of each agent, of the judge's criteria and of those by which evaluators judge answers.

    None where no perturbed query has its original beside it.
    """
    queries = findings.material.queries
    pairs, kinds = pairs_of(queries), {query.id: kind_of(query) for query in queries}
    if not pairs:
        return None
    asked = [one for judge in evaluators if judge.unit != "passage" for one in judge.criteria]
    names = dict.fromkeys(row.criterion for row in findings.pointwise)
    criteria = [*(Criterion(name, 0.0, HIGHEST) for name in names), *(one for one in asked if not isinf(one.highest))]
    given: dict[str, list[Judgment]] = defaultdict(list)
    for row in (*findings.pointwise, *rows):
        given[row.criterion].append(row)
    known = [one for one in criteria if given[one.name]]
    draws = resamples(findings.queries, 1, 0, source_clusters(queries))
    flips: dict[str, dict[str, dict[str, Figure]]] = {agent: {} for agent in agents}
    worse: dict[str, dict[str, dict[str, Figure]]] = {agent: {} for agent in agents}
    for one in known:
        good = {(row.query_id, row.subject): _good(row.label, one) for row in given[one.name]}
        for agent in agents:
            owing = {new: old for new, old in pairs.items() if (new, agent) in good or (old, agent) in good}
            if owing:
                flips[agent][one.name] = _figures(owing, kinds, good, agent, draws, worse_only=False)
                worse[agent][one.name] = _figures(owing, kinds, good, agent, draws, worse_only=True)
    return Perturbed(
        n_originals=len(set(pairs.values())),
        kinds=dict(sorted(Counter(kinds[query] for query in pairs).items())),
        thresholds={one.name: _threshold(one) for one in known},
        lower_is_better=tuple(one.name for one in known if one.lower_is_better),
        flips=flips,
        worse=worse,
    )


def _threshold(criterion: Criterion) -> float:
    if criterion.threshold is not None:
        return criterion.threshold
    share = 1 - DEFAULT_SHARE if criterion.lower_is_better else DEFAULT_SHARE
    return criterion.lowest + share * (criterion.highest - criterion.lowest)


def _good(label: float | None, criterion: Criterion) -> bool | None:
    if label is None:
        return None
    return label <= _threshold(criterion) if criterion.lower_is_better else label >= _threshold(criterion)


def _figures(
    pairs: Mapping[str, str], kinds: Mapping[str, str], good: Good, agent: str, draws: Resamples, *, worse_only: bool
) -> dict[str, Figure]:
    """Of all perturbations, then of each kind by its name."""
    by_kind = {kind: [new for new in pairs if kinds[new] == kind] for kind in sorted({kinds[new] for new in pairs})}
    made = {}
    for kind, queries in {ALL: list(pairs), **by_kind}.items():
        sums, counts, failed = Counter[str](), Counter[str](), 0
        for new in queries:
            before, after = good.get((pairs[new], agent)), good.get((new, agent))
            if before is None or after is None:
                failed += 1
                continue
            counts[pairs[new]] += 1
            sums[pairs[new]] += before and not after if worse_only else before != after
        limits, n = (0.0, 1.0), counts.total()
        made[kind] = draws.ratio(_floats(sums), _floats(counts), n=n, n_failed=failed, limits=limits)
    return made


def _floats(counted: Mapping[str, int]) -> dict[str, float]:
    return {name: float(n) for name, n in counted.items()}
