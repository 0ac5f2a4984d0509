"""The report: one self-contained HTML page that says first what to choose and how sure that is.

Every text in it is untrusted (`plots.environment`). The page loads nothing and runs nothing, and its content security
policy holds a browser to that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment
from markupsafe import Markup
from pydantic import ConfigDict

from ragassay.errors import InputError
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import digest_file, read_model, write_text
from ragassay.records import Query, Record, originals
from ragassay.table import Agent, Cell, Column, Row, Table
from ragassay.text import one_line

from ..inputs.clusters import writer
from ..inputs.labels import HIGHEST
from ..results import Comparison, Part, Results
from ..screening.screened import ScreenResults
from . import decision, judge, tables
from .plots import HeatColumn, colours_of, environment, heat_map
from .queries import Evidence, evidence_sections, mean_label, read_evidence, size
from .screening import read_screen, screening_shown
from .wording import (
    beside_the_verdict,
    confidence,
    kind_of_difference,
    leaves_out_0,
    measure_name,
    number,
    overstated,
    p_words,
    shown,
)

MOST_BYTES = 1_450_000
"""How long the page may be, so that it can be mailed and opens at once; its figures always have room."""
_WORST, _QUERIES, _PASSAGES = Markup("<!--worst-->"), Markup("<!--queries-->"), Markup("<!--passages-->")
"""Where the evidence comes; no text on the page can be one of these, since all are escaped."""


def report(workspace: Workspace) -> StageOutcome:
    """Write `report.html` from `results.json` and the files beside it.

    Raises InputError where `results.json` is missing or one of the files is not as the design has it.
    """
    results = read_results(workspace.figures)
    evidence = read_evidence(workspace, results.agents)
    screened = workspace.experiment.retriever and workspace.screen.exists()
    screening = read_screen(workspace.screen) if screened else None
    page = render(results, evidence, workspace.experiment.retrieval.k, screening, read_validity(workspace))
    write_text(workspace.report, page)
    return StageOutcome(n_records=len(evidence.queries))


def read_results(path: Path) -> Results:
    """The figures of a run. Raises InputError, with what to do, where they are missing or of another layout."""
    if not path.is_file():
        raise InputError("there are no figures yet", file=path, remedy="run `ragassay compare` first")
    return read_model(path, Results, "run `ragassay compare` again")


def read_runs(paths: Sequence[Path]) -> list[tuple[str, Results]]:
    """Results files, or the folders that hold them, for box plots, each named by its folder.

    Raises InputError where one cannot be read, has no box, or is given twice.
    """
    files = [path / "results.json" if path.is_dir() else path for path in paths]
    if len({file.resolve() for file in files}) < len(files):
        raise InputError("the same run is given twice", remedy="name each once")
    folders = [file.resolve().parent.name for file in files]
    names = folders if len(set(folders)) == len(folders) else list(map(str, files))
    runs = []
    for name, file in zip(names, files, strict=True):
        runs.append((name, read_results(file)))
        if not any(runs[-1][1].boxes.values()):
            raise InputError("has no spread of any measure", file=file, remedy="run `ragassay compare` again")
    return runs


def environment_of_figures() -> Environment:
    """`environment`, with what words and draws the figures of a run; the workbench's templates have it too."""
    made = environment()
    made.globals |= {"tables": tables, "decision": decision, "judge": judge}
    made.globals |= {one.__name__: one for one in (beside_the_verdict, made_of, wins, verdict_matrices)}
    return made


def render(
    results: Results,
    evidence: Evidence,
    k: int,
    screening: ScreenResults | None = None,
    validity: Sequence[Line] = (),
) -> str:
    """The page. The same records give the same bytes; `k` passages stand for an answer that names none."""
    templates = environment_of_figures()
    templates.globals |= {"r": results, "colour": colours_of(results.agents), "splits": judge.split_of(results)}
    figures = templates.get_template("report.html.j2").render(
        confidence=confidence(results),
        early=overstated(results),
        notices=notices(results, evidence.looks, evidence.unreadable),
        listed=bool(evidence.lists),
        looks=evidence.looks,
        by_kind=kinds_line(originals(evidence.queries), evidence.kinds_asked),
        worst=_WORST,
        queries=_QUERIES,
        passages=_PASSAGES,
        heat=by_question(evidence, results.agents),
        suspicious=evidence.suspicious,
        screening=screening_shown(screening) if screening else None,
        validity=validity,
    )
    room = MOST_BYTES - size(figures)
    worst, queries, passages = evidence_sections(templates, evidence, results.agents, tables.criteria(results), k, room)
    return figures.replace(_WORST, worst).replace(_QUERIES, queries).replace(_PASSAGES, passages)


def notices(results: Results, looks: str | None, unreadable: Sequence[tuple[str, str]]) -> list[str]:
    """What a reader must bear in mind: what `compare` noted, then the documents that could not be read.

    looks: the sentence on how written questions look, which the page says again further down.
    """
    told = [notice[:1].upper() + notice[1:] if notice == looks else notice for notice in results.notices]
    for doc, error in unreadable:
        if not any(doc in notice or one_line(doc) in notice for notice in told):
            told.append(f"{one_line(doc)} could not be read and is not in the corpus: {one_line(error)}.")
    return told


def made_of(results: Results) -> str:
    """Queries and who wrote them, calls and what they cost, in a sentence."""
    found, total = results.sources, tables.usage_total(results.usage)
    kinds_of = f" ({found.n_real:,} real, {found.n_written:,} written by models)" if found else ""
    calls = f"{total.calls:,} model calls" + (f", {total.n_failed:,} failed" if total.n_failed else "")
    return f"{results.n_queries:,} queries{kinds_of}; {calls}; cost: {tables.cost_words(total)}."


@dataclass(frozen=True)
class ByQuestion:
    """Agents, best first, by questions."""

    agents: tuple[str, ...]
    picture: Markup
    n_queries: int
    n_failed: int


def by_question(evidence: Evidence, agents: Sequence[str]) -> ByQuestion | None:
    """Of the questions as first asked, from the hardest to the easiest; None where fewer than two have a label."""
    found: list[tuple[float, str, tuple[float | None, ...]]] = []
    for query in originals(evidence.queries):
        means = [mean_label(evidence.pointwise.get((query.id, agent), [])) for agent in agents]
        shares = tuple(None if mean is None else mean / HIGHEST for mean in means)
        if known := [share for share in shares if share is not None]:
            found.append((sum(known) / len(known), query.id, shares))
    if len(found) < 2:
        return None
    found.sort(key=lambda one: one[0])
    words = f"agents by questions: {', '.join(map(one_line, agents))}"
    return ByQuestion(
        agents=tuple(agents),
        picture=heat_map([HeatColumn(shares) for _, _, shares in found], words),
        n_queries=len(found),
        n_failed=sum(share is None for _, _, shares in found for share in shares),
    )


def wins(results: Results) -> Table:
    """How often the agent of the row beat the agent of the column, shaded by who leads between the two."""

    def cell(row: str, column: str) -> Cell:
        if row == column:
            return Cell("", css="self")
        mine, theirs = (results.wins.get(one, {}).get(other) for one, other in ((row, column), (column, row)))
        made = shown(mine, "share", "" if mine else "these two never met")
        if mine is None or theirs is None or mine.value is None or theirs.value is None:
            return made
        lead = mine.value - theirs.value
        return replace(made, css=f"tone {'hi' if lead > 0 else 'lo'} t{round(min(3.4 * abs(lead), 3.0))}")

    rows: list[Row] = [(Agent(row), *(cell(row, column) for column in results.agents)) for row in results.agents]
    return Table("Win matrix", [Column("Row beats column"), *map(Column, map(Agent, results.agents))], rows)


SIGNS = {"better": "▲", "worse": "▼", "practically equal": "≈", "not distinguishable": "="}
_OTHER = {"better": "worse", "worse": "better"}


class VerdictMatrix(NamedTuple):
    """One measure: every agent against every other. lacking: queries without a value for some agent; said: each pair
    in a sentence."""

    measure: str
    n_decided: int
    n_pairs: int
    lacking: tuple[str, ...]
    table: Table
    said: tuple[str, ...]


def verdict_matrices(results: Results) -> list[VerdictMatrix]:
    """A matrix for each measure compared, in the order of the file."""
    measured = dict.fromkeys(row.measure for row in results.comparisons)
    return [_matrix(m, [row for row in results.comparisons if row.measure == m], results.agents) for m in measured]


def _matrix(measure: str, rows: list[Comparison], order: Sequence[str]) -> VerdictMatrix:
    cells = {(row.agent_a, row.agent_b): _pair(row, turned=False) for row in rows}
    cells |= {(row.agent_b, row.agent_a): _pair(row, turned=True) for row in rows}
    agents = [agent for agent in order if any(agent in pair for pair in cells)]
    least = [
        number(row.detectable, kind_of_difference(measure))
        for row in sorted(rows, key=lambda row: row.detectable or 0.0)
        if row.detectable is not None
    ]
    lacking = tuple(sorted({query for row in rows for query in (*row.lacking_a, *row.lacking_b)}))
    notes = []
    if least:
        notes.append(
            "The smallest difference that these queries could have shown here in four of five test sets like this: "
            f"{least[0]} to {least[-1]}, by pair."
        )
    if lacking:
        notes.append(f"Without a value for some agent, and out of its pairs: {', '.join(lacking)}.")
    name = measure_name(measure)
    return VerdictMatrix(
        name,
        sum(row.verdict != "not distinguishable" for row in rows),
        len(rows),
        lacking,
        Table(
            f"Pair by pair: {name}",
            [Column("row against column"), *map(Column, map(Agent, agents))],
            [(Agent(one), *(cells.get((one, other), Cell("")) for other in agents)) for one in agents],
            notes,
        ),
        tuple(row.sentence for row in rows),
    )


def _pair(row: Comparison, *, turned: bool) -> Cell:
    """The sign of the verdict and the difference, of the row agent or `turned` of the column's, and its p by Holm."""
    figure, verdict = row.difference, str(row.verdict)
    if turned:
        figure, verdict = figure.turned(), _OTHER.get(verdict, verdict)
    made, undecided = shown(figure, kind_of_difference(row.measure)), verdict == "not distinguishable"
    more = [f"p {'not defined' if row.p_holm is None else p_words(row.p_holm)}"]
    more += ["only by itself"] if undecided and leaves_out_0(figure) else []
    return replace(made, value=f"{SIGNS[verdict]} {made.value}", more=tuple(more), css="undecided" if undecided else "")


def kinds_line(queries: Sequence[Query], asked: Mapping[str, float]) -> str:
    """`Of 36 written queries by kind, with the share asked for: 18 fact (50%), …`; "" where no kind is known.

    asked: the share of the written queries that each kind was to have; empty where none was asked for.
    """
    written = [query for query in queries if writer(query)]
    n = Counter(str(query.metadata.get("kind") or "") for query in written)
    unknown = n.pop("", 0)
    if not n or not asked:
        return ""
    named = [kind for kind, share in asked.items() if share > 0 or n[kind]] + sorted(set(n) - set(asked))
    told = [f"{n[kind]:,} {one_line(kind)} ({100 * asked.get(kind, 0.0):.3g}%)" for kind in named]
    told += [f"{unknown:,} of no known kind"] if unknown else []
    return f"Of {len(written):,} written queries by kind, with the share asked for: {', '.join(told)}"


class Line(NamedTuple):
    """warning: whether it speaks against the set; said: nothing where there is nothing to say."""

    part: str
    said: str
    warning: bool


class PartSaid(Part):
    """A part without its figures."""

    model_config = ConfigDict(extra="ignore")


class ValiditySaid(Record):
    """The parts of `validity.json` without their figures. queries: the digest of the queries that it is of."""

    model_config = ConfigDict(extra="ignore")

    queries: str | None = None
    leak: PartSaid
    realism: PartSaid
    coverage: PartSaid
    difficulty: PartSaid
    authors: PartSaid
    people: PartSaid


PARTS = tuple(name for name in ValiditySaid.model_fields if name != "queries")
"""Of the page, in its order."""


def read_validity(workspace: Workspace) -> tuple[Line, ...]:
    """A line for each part of `validity.json`, those with a warning first; none without one, or of other queries.

    Raises InputError where it is of another layout.
    """
    path = workspace.validity
    if not path.is_file() or not workspace.queries.is_file():
        return ()
    remedy = f"run `ragassay check validity {workspace.corpus}` again, or remove it"
    found = read_model(path, ValiditySaid, remedy)
    if found.queries != digest_file(workspace.queries):
        return ()
    lines = []
    for name in PARTS:
        part: Part = getattr(found, name)
        why_not = f"Not said: {part.abstained}" if part.abstained else ""
        lines.append(Line(name, " ".join(part.warnings or part.said[:1]) or why_not, bool(part.warnings)))
    return tuple(sorted(lines, key=lambda line: not line.warning))
