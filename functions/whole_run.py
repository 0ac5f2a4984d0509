"""The whole job from Python: `ragassay run` on a corpus folder, and its figures."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.cli.pipeline.runner import bring_all
from ragassay.errors import InputError, MissingExtra
from ragassay.evaluate.report.page import read_results as read_file
from ragassay.evaluate.results import POINTS, WIN_RATE, Figures, Results
from ragassay.experiment.mirror import Address, address
from ragassay.records import Figure

if TYPE_CHECKING:
    from pandas import DataFrame


class AgentFigure(Figure):
    """A figure of an agent. group: the part of results.json it is from; measure: as it is spelt there.

    value: over `n`; `n_failed` more were owed and failed; ci_low, ci_high: 95%. None where there is none.
    """

    group: str
    agent: str
    measure: str


COLUMNS = ("group", "agent", "measure", "value", "n", "n_failed", "ci_low", "ci_high")


@dataclass(frozen=True, repr=False)
class RunResults:
    """What a run found. `results` is all of results.json; folder: where it stands.

    exit_status: that of `ragassay run` (0 done, 1 fewer questions than asked for, 5 some input was left out, 6 every
    call of a stage failed), 0 where the figures were only read.
    """

    folder: Path
    results: Results
    exit_status: int = 0

    def __repr__(self) -> str:
        """The decision and the ranked table, as `ragassay run` prints them."""
        from rich.console import Console

        from ragassay.evaluate.report.terminal import RankedTable

        console = Console(width=100, file=StringIO(), color_system=None)
        with console.capture() as printed:
            console.print(RankedTable(self.results))
        return printed.get().rstrip()

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents' names, best first."""
        return self.results.agents

    @property
    def verdict(self) -> str:
        """What to choose, in a sentence."""
        return self.results.verdict.sentence

    @property
    def notices(self) -> tuple[str, ...]:
        """What the run had to say, the gravest first."""
        return self.results.notices

    @property
    def report(self) -> Path:
        """Where the report is, `report.html`."""
        return self.folder / "report.html"

    @property
    def figures(self) -> tuple[AgentFigure, ...]:
        """Every figure of every agent, by group, agent (best first) and measure."""
        return tuple(
            AgentFigure(group=group, agent=agent, measure=measure, **figure.model_dump())
            for group, by_agent in _groups(self.results)
            for agent in self.agents
            for measure, figure in by_agent.get(agent, {}).items()
        )

    def to_pandas(self) -> DataFrame:
        """The figures as a data frame, a row each: COLUMNS. Raises MissingExtra without pandas."""
        try:
            from pandas import DataFrame
        except ModuleNotFoundError:
            raise MissingExtra("to_pandas needs pandas, which", "pandas") from None
        return DataFrame([one.model_dump() for one in self.figures], columns=list(COLUMNS))


def read_results(folder: str | Path) -> RunResults:
    """The figures in a results folder. Raises InputError where there are none, or of another layout."""
    return RunResults(Path(folder), read_file(Path(folder) / "results.json"))


def _groups(results: Results) -> Iterator[tuple[str, Figures]]:
    yield "retrieval", results.retrieval
    yield "retrieval_people", results.retrieval_people
    yield "pointwise", results.pointwise
    yield "evaluations", results.evaluations
    yield "refusals", _single("refusal_rate", results.refusals)
    passed = {agent: one.passed for agent, one in results.pass_or_fail.items()}
    yield "pass_or_fail", _single("passed", passed)
    yield "answers", results.answers
    yield "games", _together(results, {POINTS: results.points, WIN_RATE: results.win_rate})
    yield "ratings", _together(results, {"elo": results.elo, "bradley_terry": results.bradley_terry})


def _together(results: Results, measures: Mapping[str, Mapping[str, Figure]]) -> Figures:
    return {
        agent: {name: figures[agent] for name, figures in measures.items() if agent in figures}
        for agent in results.agents
    }


def _single(measure: str, figures: dict[str, Figure]) -> Figures:
    return {agent: {measure: figure} for agent, figure in figures.items()}


def run(
    corpus: str | Path,
    *,
    results: str | Path | None = None,
    model: str | None = None,
    max_cost: float | None = None,
    ignore_recorded: bool = False,
    retry_failed: bool = False,
    others: Sequence[str | Path] = (),
) -> RunResults:
    """Bring every stage up to date that is not, and read the figures; progress is told on stderr.

    corpus: the folder with experiment.toml, or its address (s3://…). results: where to write, by default `results/` and
    the corpus folder's name. model: for everything, in place of experiment.toml's. max_cost: US dollars. others:
    results folders over the same queries whose agents take part. As `ragassay run` else.
    Raises InputError, BudgetSpent, RepliesMissing; what was received is kept.
    """
    workspace, status = bring_all(
        argparse.Namespace(
            corpus=_folder(corpus),
            results=None if results is None else _folder(results),
            model=model,
            max_cost=max_cost,
            ignore_recorded=ignore_recorded,
            retry_failed=retry_failed,
            others=[Path(other) for other in others],
        )
    )
    return RunResults(workspace.results, read_results(workspace.results).results, status)


def _folder(given: str | Path) -> Path | Address:
    if not str(given):
        raise InputError("the name of a folder is empty")
    return address(str(given)) or Path(given)
