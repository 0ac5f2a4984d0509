"""The mean of each criterion: an agent's over its queries, a passage judge's over all passages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ragassay.records import Assessment, Figure

from ..inputs.clusters import ALONE, Clusters
from ..judging.engine.evaluator import Evaluator
from ..statistics.clustered import Range, limits_of
from ..statistics.resamples import Resamples, resamples

PASSAGES = "all passages"


def means(
    rows: Sequence[Assessment], evaluators: Sequence[Evaluator], clusters: Clusters = ALONE
) -> Iterator[tuple[str, str, Figure]]:
    """(criterion, agent or "all passages", figure) in the evaluators' order; the figure is of labels, on their scale.

    n counts answers or passages, n_failed those without a value; the interval is over queries, taken together by
    `clusters`.
    """
    draws = resamples(tuple(dict.fromkeys(row.query_id for row in rows)), 1, 0, clusters)
    by_criterion: dict[str, list[Assessment]] = defaultdict(list)
    for row in rows:
        by_criterion[row.criterion].append(row)
    for evaluator in evaluators:
        for criterion in evaluator.criteria:
            mine, limits = by_criterion[criterion.name], limits_of(criterion.lowest, criterion.highest)
            if evaluator.unit == "passage":
                yield criterion.name, PASSAGES, _over_passages(mine, draws, limits)
                continue
            for agent in dict.fromkeys(row.subject for row in mine):
                labels = {row.query_id: row.label for row in mine if row.subject == agent}
                yield criterion.name, agent, draws.figure(labels, limits)


def _over_passages(rows: Sequence[Assessment], draws: Resamples, limits: Range | None) -> Figure:
    known = [(row.query_id, row.label) for row in rows if row.label is not None]
    return draws.mean(known, len(rows) - len(known), limits)
