"""What the verbs do, from Python: on plain files `score`, `rate`, `agree`, `compare` (`ragassay gate`), `search` and
`check`, by the verb's defaults in all else; and `run`, the whole job on a corpus folder, with its figures.

What a verb needs is imported when it is called.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from ragassay.errors import InputError, needing
from ragassay.evaluate.results import POINTS, WIN_RATE, Figures, Results
from ragassay.experiment.mirror import Address, address
from ragassay.files import Rankings, read_run
from ragassay.records import Figure
from ragassay.table import Cell, Column, Table
from ragassay.text import plain

if TYPE_CHECKING:
    from pandas import DataFrame

    from ragassay.evaluate.agreement.agree import Agreement
    from ragassay.evaluate.from_files.gate import Gate
    from ragassay.synth.checking.test_set import Checked

Place = str | Path


def score(
    qrels: Place, run: Place, *, measures: Sequence[str] = ("RR@5",), clusters: Place | None = None, seed: int = 7
) -> Table:
    """A TREC run against qrels (TREC or BEIR): a row for each measure, such as `nDCG@10` or `RR(rel=2)@5`.

    clusters: BEIR's queries.jsonl with `metadata.section`, by which intervals take queries together; without it each
    stands alone. A query that the run lacks scores 0, and a note counts them. Raises InputError.
    """
    from ragassay.evaluate.from_files.rate import missing_queries, score_files

    sections = None if clusters is None else Path(clusters)
    found = score_files(Path(qrels), Path(run), measures, sections=sections, seed=seed)
    missing = missing_queries(Path(qrels), Path(run))
    notes = [f"queries of the qrels that the run lacks, each scored 0: {missing:,}"] if missing else []
    rows = [(plain(name), _cell(figure)) for name, figure in found.items()]
    return Table("scores of a run", (Column("measure"), Column("mean")), rows, notes)


def rate(
    games: Place,
    *,
    method: Literal["elo", "bradley-terry"] = "bradley-terry",
    clusters: Place | None = None,
    seed: int = 7,
) -> Table:
    """Pairwise games rated: each agent's points, rating, rank and chance to be the best, best first.

    games: JSON Lines, JSON, CSV or TSV. clusters: as in `score`. The note is the verdict, in a sentence. Raises
    InputError.
    """
    from ragassay.evaluate.from_files.rate import rate_file

    sections = None if clusters is None else Path(clusters)
    found = rate_file(Path(games), method, sections=sections, seed=seed)
    columns = (Column("agent"), Column("points"), Column("rating"), Column("rank"), Column("P(best)", numbers=True))
    rows = []
    for agent, figure in found["ratings"].items():
        low, high = found["ranks"][agent]
        chance = found["verdict"]["p_best"].get(agent)
        told = (str(low) if low == high else f"{low} to {high}", "–" if chance is None else f"{chance:.3f}")
        points = _cell(Figure.model_validate(found["points"][agent]))
        rows.append((plain(agent), points, _cell(Figure.model_validate(figure), ".4g"), *told))
    notes = [found["verdict"]["sentence"], *([found["note"]] if found.get("note") else [])]
    return Table("agents, rated from their games", columns, rows, notes)


def agree(
    labels: Place, *, people: str, judges: Sequence[str] = ("all",), clusters: str | None = None, seed: int = 7
) -> Agreement:
    """How far judges agree with people: a table of labels (CSV, TSV, JSON Lines), a column a rater.

    people: the column of people's labels; judges: those of judges, "all" for every other that can be one. clusters: the
    column that names the query (default: query_id, if it is there). Raises InputError.
    """
    from ragassay.evaluate.agreement.agree import agree as agree_on
    from ragassay.evaluate.agreement.label_tables import judges_of, ratings, read_labels

    table = read_labels(Path(labels))
    columns, left_out = judges_of(table, people, judges, clusters)
    given = ratings(table, [people, *columns], clusters)
    return agree_on(given, thresholds=True, left_out=left_out, seed=seed)


def compare(
    baseline: Place,
    new: Place,
    *,
    measures: Sequence[str] = (),
    agents: Sequence[str] = (),
    max_drop: float | None = None,
) -> Gate:
    """Whether a run is worse than a baseline over the same queries: results folders, as `ragassay gate` has it.

    measures: default MRR of very relevant passages, and every criterion; agents: all that both have. max_drop: what is
    tolerated, in the measure's own unit (None: 2% of its range). Raises InputError.
    """
    from ragassay.evaluate.from_files.gate import gate

    return gate(Path(new), Path(baseline), measures=measures, agents=agents, max_drop=max_drop)


def search(
    corpus: Place,
    queries: Place,
    *,
    retriever: Literal["bm25", "knn", "hybrid"] = "bm25",
    k: int = 10,
    embedding: str = "all-MiniLM-L6-v2",
    language: str = "en",
) -> Rankings:
    """Query id to its (passage id, score), best first, of the k best: BEIR's corpus.jsonl and queries.jsonl, or TREC's.

    Raises InputError.
    """
    from ragassay.retrieval.search import search_files

    with TemporaryDirectory() as folder:
        out = Path(folder) / "run.trec"
        files = Path(corpus), Path(queries)
        search_files(*files, retriever, embedding=embedding, k=k, out=out, language=language, cache=None)
        return read_run(out)


def check(test_set: Place, corpus: Place, *, language: str | None = None) -> Checked:
    """What is wrong with a test set from anywhere, held against its corpus.

    test_set: BEIR's queries.jsonl, or a set of Ragas, RAGElo, DeepEval, or CSV. corpus: a results folder, a folder of
    PDFs, or a corpus.jsonl; people's questions are read from its questions.txt, if there. Raises InputError.
    """
    from ragassay.synth.checking.check_set import check_set
    from ragassay.synth.checking.corpus_text import read_corpus
    from ragassay.synth.checking.test_set import apart, read_test_set
    from ragassay.synth.questions.own import read_expert_questions

    items, _ = apart(read_test_set(Path(test_set)), Path(test_set))
    experts = read_expert_questions(Path(corpus) / "questions.txt", needed=False)
    text, notices = read_corpus(Path(corpus), language)
    checked = check_set(Path(test_set), items, text, [one.text for one in experts])
    return checked.model_copy(update={"notes": (*notices, *checked.notes)})


def _cell(figure: Figure, digits: str = ".4f") -> Cell:
    """A figure in a table, with its interval, n and what failed."""
    failed = f"{figure.n_failed:,} failed" if figure.n_failed else ""
    if figure.value is None:
        return Cell("–", n=f"n {figure.n:,}", failed=failed, why="not defined", figure=figure)
    interval = "" if figure.ci_low is None else f"[{figure.ci_low:{digits}}, {figure.ci_high:{digits}}]"
    return Cell(f"{figure.value:{digits}}", interval, f"n {figure.n:,}", failed, figure=figure)


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
        found = self.results
        passed = {agent: one.passed for agent, one in found.pass_or_fail.items()}
        groups = {
            "retrieval": found.retrieval,
            "retrieval_people": found.retrieval_people,
            "pointwise": found.pointwise,
            "evaluations": found.evaluations,
            "refusals": self._by_agent({"refusal_rate": found.refusals}),
            "pass_or_fail": self._by_agent({"passed": passed}),
            "answers": found.answers,
            "games": self._by_agent({POINTS: found.points, WIN_RATE: found.win_rate}),
            "ratings": self._by_agent({"elo": found.elo, "bradley_terry": found.bradley_terry}),
        }
        return tuple(
            AgentFigure(group=group, agent=agent, measure=measure, **figure.model_dump())
            for group, by_agent in groups.items()
            for agent in self.agents
            for measure, figure in by_agent.get(agent, {}).items()
        )

    def _by_agent(self, measures: Mapping[str, Mapping[str, Figure]]) -> Figures:
        return {
            agent: {name: figures[agent] for name, figures in measures.items() if agent in figures}
            for agent in self.agents
        }

    def to_pandas(self) -> DataFrame:
        """The figures as a data frame, a row each: COLUMNS. Raises MissingExtra without pandas."""
        with needing("to_pandas needs pandas, which", "pandas"):
            from pandas import DataFrame
        return DataFrame([one.model_dump() for one in self.figures], columns=list(COLUMNS))


def read_results(folder: str | Path) -> RunResults:
    """The figures in a results folder. Raises InputError where there are none, or of another layout."""
    from ragassay.evaluate.report.page import read_results as read_file

    return RunResults(Path(folder), read_file(Path(folder) / "results.json"))


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
    from ragassay.cli.pipeline.runner import bring_all

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
