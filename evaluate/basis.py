"""What the sections of `compare` are made from: values, verdicts, ratings, and what others are at meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ragassay.cores import Helpers
from ragassay.experiment.settings import Experiment
from ragassay.records import Figure

from .audit.taste import begin_control, lengths_of
from .figures.evaluator_values import Evaluations
from .figures.pool import failed_answers
from .figures.query_values import (
    ComparedMeasure,
    figures,
    labelled_rows,
    of_findings,
    pointwise_by_query,
    retrieval_by_query,
)
from .inputs.clusters import source_clusters
from .inputs.findings import Findings
from .inputs.labels import HIGHEST
from .looks import Drawn
from .measures.by_labels import LabelRows
from .measures.measure import compared
from .ratings import bradley_terry, elo
from .ratings.leader import MARGIN, Standing, stand
from .ratings.length_control import Controlled
from .ratings.points import Points, points_of
from .ratings.verdicts import Verdict, panel_verdicts, verdicts
from .ratings.win_table import Contests, contests
from .results import POINTS, Figures
from .statistics.clustered import ByAgent
from .statistics.resamples import Resamples, resamples
from .statistics.spending import Look

V = TypeVar("V")

K_FACTOR = 16.0
"""A few dozen queries give an agent some tens of games, after which a smaller K would leave it near where it began."""

_LARGE = 10_000_000
"""Queries times the square of the agents, from which on other processes help: seconds of work."""


@dataclass(frozen=True)
class Basis:
    """What the sections are made from. retrieval, pointwise: the judge's values; points: of the agents' games.

    labelled: the labels of the first k passages, where all have one. found: the verdicts on the games, of a panel the
    majority's, and table: the same as arrays. own: each judge's. asked: the measures on which agents are compared, but
    for evaluators'. helpers: who works beside this process; elo and length wait for what they do.
    """

    findings: Findings
    experiment: Experiment
    draws: Resamples
    labelled: Mapping[str, LabelRows]
    retrieval: ByAgent
    pointwise: ByAgent
    evaluated: Evaluations
    found: Sequence[Verdict]
    own: Sequence[Verdict]
    asked: Mapping[str, ComparedMeasure]
    table: Contests
    play: elo.EloSettings
    helpers: Helpers
    elo: Callable[[], Mapping[str, Figure]]
    length: Callable[[], Controlled]
    strengths: bradley_terry.BradleyTerry
    points: Points
    standing: Standing | None

    @property
    def order(self) -> tuple[str, ...]:
        """The agents, best first by points."""
        return self.points.order

    @property
    def margin(self) -> float:
        """The smallest difference of points that matters."""
        return margin_of(self.experiment)

    @property
    def k(self) -> int:
        """The cutoff of the ranking measures."""
        return self.experiment.retrieval.k

    @property
    def ranking(self) -> list[str]:
        """The ranking measures on which agents are compared."""
        return compared(self.k, self.experiment.compare.measures)

    @property
    def criteria(self) -> tuple[str, ...]:
        """Those by which answers were judged by themselves."""
        return self.experiment.judge.criteria

    @cached_property
    def retrieval_means(self) -> Figures:
        """The mean of each ranking measure."""
        return figures(self.retrieval, self.draws)

    @cached_property
    def pointwise_means(self) -> Figures:
        """The mean of each criterion."""
        return figures(self.pointwise, self.draws, HIGHEST)

    def in_order(self, table: Mapping[str, V]) -> dict[str, V]:
        """By agent, best first."""
        return {agent: table[agent] for agent in self.order if agent in table}


def helpers_for(findings: Findings, experiment: Experiment) -> Helpers:
    """None for what is done before they have started."""
    agents, settings = len(findings.material.agents), experiment.compare
    replicates = settings.bootstrap if settings.elo_intervals else 0
    games = elo.is_large(len(findings.games) // 2, replicates, settings.tournaments)
    return Helpers(games or len(findings.queries) * agents**2 > _LARGE)


def basis_of(
    findings: Findings,
    experiment: Experiment,
    evaluated: Evaluations,
    helpers: Helpers,
    drawn: Drawn | None = None,
) -> Basis:
    """What other processes can do is begun before what only this one can."""
    settings, agents = experiment.compare, findings.material.agents
    clusters = source_clusters(findings.material.queries)
    draws = resamples(findings.queries, settings.bootstrap, settings.seed, clusters)
    own = verdicts(findings.games)
    found = panel_verdicts(own, experiment.judge.models)
    table = contests(found, agents, findings.queries)
    play = elo.EloSettings(K_FACTOR, tournaments=settings.tournaments, seed=settings.seed)
    rating = helpers.start(bradley_terry.rate, table, draws, play.initial)
    length = begin_control(found, lengths_of(findings.material.answers), agents, draws, helpers, table)
    points = elo.begin(table, draws if settings.elo_intervals else None, play, helpers)
    k, more = experiment.retrieval.k, settings.measures
    labelled = labelled_rows(findings, k)
    retrieval = retrieval_by_query(findings, k, more, labelled)
    pointwise = pointwise_by_query(findings, experiment.judge.criteria)
    not_asked = findings.material.not_asked
    games = points_of(found, agents, findings.queries, unanswered=failed_answers(findings), not_asked=not_asked)
    asked = of_findings(compared(k, more), retrieval, pointwise, games)
    return Basis(
        findings=findings,
        experiment=experiment,
        draws=draws,
        labelled=labelled,
        retrieval=retrieval,
        pointwise=pointwise,
        evaluated=evaluated,
        found=found,
        own=own,
        asked=asked,
        table=table,
        play=play,
        helpers=helpers,
        elo=points,
        length=length,
        strengths=rating(),
        points=games,
        standing=stand(games, clusters, settings.seed, margin_of(experiment), *_look(drawn)),
    )


def _look(drawn: Drawn | None) -> tuple[Look | None, tuple[str, ...]]:
    """At which look the leader is sought, and who was told from it before."""
    return (drawn.look, drawn.told) if drawn else (None, ())


def margin_of(experiment: Experiment) -> float:
    """The smallest difference of points (0 to 1) that matters: `[run] margin` of a run until something is known, else
    `[compare] matters`, else `MARGIN`."""
    if experiment.run.until:
        return experiment.run.margin
    return experiment.compare.matters.get(POINTS, MARGIN)
