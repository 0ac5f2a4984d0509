"""The measures on which agents are compared, each with every agent's value a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ragassay.cores import Helpers
from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.text import did_you_mean, listed, plain

from ..inputs.clusters import Clusters
from ..inputs.labels import HIGHEST
from ..judging.catalog import experiment_evaluators
from ..ratings.points import Points
from ..results import POINTS, Comparison
from ..statistics.clustered import ByAgent, Values
from ..statistics.gaps import ValueTable
from ..statistics.paired_comparison import FromLeader, compare_table
from . import query_values
from .evaluator_values import Evaluations, measures_of


@dataclass(frozen=True)
class ComparedMeasure:
    """Agent to query to value; `width` is how far apart the worst and the best value are, None without limit."""

    values: Mapping[str, Values]
    width: float | None
    lower_is_better: bool = False


def of_findings(k: int, retrieval: ByAgent, pointwise: ByAgent, points: Points) -> dict[str, ComparedMeasure]:
    """Measure to values: MRR at both levels, each criterion, and an agent's points a query."""
    names = list(dict.fromkeys(name for row in pointwise.values() for name in row))
    table = {
        measure: ComparedMeasure({agent: row[measure] for agent, row in retrieval.items() if measure in row}, 1.0)
        for measure in query_values.ranking_measures(k)[:2]
    }
    table |= {name: ComparedMeasure({agent: row[name] for agent, row in pointwise.items()}, HIGHEST) for name in names}
    return table | {POINTS: ComparedMeasure(points.values(), 1.0)}


def of_evaluators(evaluated: Evaluations) -> dict[str, ComparedMeasure]:
    """What evaluators gave, each measure with the values of the agents that have it."""
    return {
        name: ComparedMeasure(
            {agent: row[name] for agent, row in evaluated.values.items() if name in row},
            None if (limits := evaluated.limits(name)) is None else limits[1] - limits[0],
            name in evaluated.lower_is_better,
        )
        for name in evaluated.scales
    }


def asked_measures(experiment: Experiment) -> list[str]:
    """The names of `of_findings`, as the settings give them."""
    return [*query_values.ranking_measures(experiment.retrieval.k)[:2], *experiment.judge.criteria, POINTS]


def check_matters(workspace: Workspace) -> None:
    """Raises InputError for a measure of `[compare] matters` that is not compared here, with those that are.

    It needs the settings alone, so that it can be said before anything is paid for.
    """
    experiment = workspace.experiment
    known = asked_measures(experiment)
    if experiment.evaluates and experiment.compare.matters.keys() - known:
        known += measures_of(experiment_evaluators(workspace), experiment.evaluate.k)
    for measure in experiment.compare.matters:
        if measure not in known:
            raise InputError(
                f"compare.matters names '{plain(measure)}', which is not compared here",
                file=workspace.corpus / "experiment.toml",
                remedy=f"{did_you_mean(measure, known)}the measures are {listed(known)}",
            )


def without_values(experiment: Experiment, evaluated: Evaluations) -> list[str]:
    """A notice for each measure that matters and that the evaluators could give but did not."""
    known = {*asked_measures(experiment), *evaluated.scales}
    lacking = [plain(measure) for measure in experiment.compare.matters if measure not in known]
    return [f"compare.matters names '{measure}', of which there is no value to compare" for measure in lacking]


def compare_agents(
    table: Mapping[str, ComparedMeasure],
    order: Sequence[str],
    clusters: Clusters,
    seed: int,
    matters: Mapping[str, float],
    helpers: Helpers,
    leader: FromLeader | None = None,
) -> Callable[[], tuple[Comparison, ...]]:
    """Every pair of agents on every measure, waited for when asked for; the first of a pair stands earlier in `order`.

    matters: measure to the smallest difference that matters. helpers: who compares, measure by measure. leader: who
    leads by points.
    """
    begun = []
    for measure, one in table.items():
        values = ValueTable.of({agent: one.values[agent] for agent in order if agent in one.values})
        asked = (values, clusters, one.width, seed, matters.get(measure), one.lower_is_better)
        first = leader if measure == POINTS else None
        begun.append(helpers.start(compare_table, measure, *asked, leader=first))
    return lambda: tuple(row for wait in begun for row in wait())
