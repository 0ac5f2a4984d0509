"""The report: one self-contained HTML page that says first what to choose and how sure that is.

Every text in it is untrusted (`environment`). The page loads nothing and runs nothing, and its content security policy
holds a browser to that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup, escape
from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import digest_file, first_problem, read_json, write_text
from ragassay.queries import originals
from ragassay.records import Figure, Query
from ragassay.text import one_line

from ..inputs.clusters import writer
from ..inputs.labels import HIGHEST
from ..results import PARTS, Comparison, Part, Results, ValiditySaid
from ..screening.screened import ScreenResults
from . import plots
from .decision import (
    MOST,
    are_few,
    families,
    front,
    insight_lines,
    judge_in_brief,
    lead_axis,
    lead_rows,
    problem_lines,
    to_decide,
)
from .environment import environment
from .judge import (
    audit_rows,
    caution,
    disagreement_rows,
    grids,
    judge_rows,
    kinds,
    length_plots,
    orders_shown,
    pool_columns,
    split_of,
)
from .queries import Evidence, evidence_sections, read_evidence, size
from .screening import read_screen, screening_shown
from .tables import (
    SHOWN,
    agreement_rows,
    answer_columns,
    bottom_columns,
    columns,
    corrected_tables,
    corrected_verdicts,
    criteria,
    elo_columns,
    evaluator_tables,
    label_counts,
    label_name,
    label_parts,
    ledger_totals,
    ranking_columns,
    test_rows,
    usage_rows,
    usage_total,
)
from .wording import (
    Shown,
    beside_the_verdict,
    confidence,
    kind_of_difference,
    leaves_out_0,
    measure_help,
    measure_name,
    number,
    share_of,
    shown,
)


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


def read_validity(workspace: Workspace) -> tuple[Line, ...]:
    """A line for each part of `validity.json`, those with a warning first; none without one, or of other queries.

    Raises InputError where it is of another layout.
    """
    path = workspace.validity
    if not path.is_file() or not workspace.queries.is_file():
        return ()
    try:
        found = ValiditySaid.model_validate(read_json(path))
    except ValidationError as error:
        remedy = f"run `ragassay validity {workspace.corpus}` again, or remove it"
        raise InputError(first_problem(error), file=path, remedy=remedy) from None
    return _lines(found) if found.queries == digest_file(workspace.queries) else ()


def _lines(found: ValiditySaid) -> tuple[Line, ...]:
    parts: Mapping[str, Part] = {name: getattr(found, name) for name in PARTS}
    lines = [_line(name, part) for name, part in parts.items()]
    return tuple(sorted(lines, key=lambda line: not line.warning))


def _line(name: str, part: Part) -> Line:
    """Its warnings, or else the first sentence, or else why there is none."""
    if part.warnings:
        return Line(name, " ".join(part.warnings), True)
    if part.said:
        return Line(name, part.said[0], False)
    return Line(name, f"Not said: {part.abstained}" if part.abstained else "", False)


# Cells of a shade are one path, so that 200 queries of 6 agents take some 15 kB. Questions stand from hardest to
# easiest.

SHADES = 5
_ROOM = 0.08
"""Left white below each row, of a cell's height."""


@dataclass(frozen=True)
class HeatMap:
    """agents, best first. svg: a row an agent, a column a question. hardest, easiest: (id, mean of 1) at the ends."""

    agents: tuple[str, ...]
    svg: Markup
    n_queries: int
    n_failed: int
    hardest: tuple[str, str]
    easiest: tuple[str, str]


def heat_map(evidence: Evidence, agents: Sequence[str]) -> HeatMap | None:
    """Of the questions as first asked; None where fewer than two have a label."""
    queries = originals(evidence.queries)
    cells = {(q.id, agent): _goodness(evidence, q.id, agent) for q in queries for agent in agents}
    means: dict[str, float] = {}
    for query in queries:
        known = [value for agent in agents if (value := cells[query.id, agent]) is not None]
        if known:
            means[query.id] = sum(known) / len(known)
    if len(means) < 2:
        return None
    order = sorted(means, key=lambda query: means[query])
    return HeatMap(
        agents=tuple(agents),
        svg=_svg([[cells[query, agent] for query in order] for agent in agents], agents),
        n_queries=len(order),
        n_failed=sum(cells[query, agent] is None for query in order for agent in agents),
        hardest=(one_line(order[0]), f"{means[order[0]]:.2f}"),
        easiest=(one_line(order[-1]), f"{means[order[-1]]:.2f}"),
    )


def _goodness(evidence: Evidence, query: str, agent: str) -> float | None:
    """0 to 1; None where no label of the answer is there. Refusals are no grade."""
    rows = [row for row in evidence.pointwise.get((query, agent), []) if row.criterion != "refusal"]
    labels = [row.label for row in rows if row.label is not None]
    return sum(labels) / len(labels) / HIGHEST if labels else None


def _svg(rows: Sequence[Sequence[float | None]], agents: Sequence[str]) -> Markup:
    paths: dict[str, list[str]] = {}
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            shade = "hf" if value is None else f"h{min(int(value * SHADES), SHADES - 1)}"
            paths.setdefault(shade, []).append(f"M{right} {down}h1v{1 - _ROOM:g}h-1z")
    drawn = "".join(f'<path class="{shade}" d="{"".join(paths[shade])}"/>' for shade in sorted(paths))
    words = f"agents by questions: {', '.join(one_line(agent) for agent in agents)}"
    box = f"0 0 {len(rows[0]) if rows else 0} {len(rows)}"
    return Markup(  # noqa: S704
        f'<svg class="heat" role="img" aria-label="{escape(words)}" viewBox="{box}" preserveAspectRatio="none">'
        f"{drawn}</svg>"
    )


@dataclass(frozen=True)
class ShareRow:
    """One agent by one criterion. figures: passed, failed, the three parts of the failed, replies not read."""

    agent: str
    criterion: str
    figures: list[Shown]


def share_rows(results: Results) -> list[ShareRow]:
    """A row for each criterion and agent, by criterion."""
    names = dict.fromkeys(name for named in results.threshold_shares.values() for name in named)
    return [
        ShareRow(agent, f"{one_line(name).replace('_', ' ')} ({_side(results, name)})", _figures(results, agent, name))
        for name in names
        for agent in results.agents
        if name in results.threshold_shares.get(agent, {})
    ]


def _side(results: Results, name: str) -> str:
    sign = "≤" if name in results.lower_is_better else "≥"
    return f"{sign} {results.thresholds[name]:g}" if name in results.thresholds else "no threshold"


def _figures(results: Results, agent: str, name: str) -> list[Shown]:
    one = results.threshold_shares[agent][name]
    parts = (one.retrieval_failures, one.generation_failures, one.unexplained_failures)
    return [shown(figure, "share", "does not apply") for figure in (one.passed, one.failed, *parts, one.parse_failures)]


def tag_rows(results: Results) -> list[tuple[str, str]]:
    """Each tag with its evaluators in words."""
    return [(tag, ", ".join(map(one_line, names))) for tag, names in results.evaluator_tags.items()]


SIGNS = {"better": "▲", "worse": "▼", "practically equal": "≈", "not distinguishable": "="}
_OTHER = {"better": "worse", "worse": "better"}


@dataclass(frozen=True)
class VerdictCell:
    """One pair: `verdict` of the row agent, its difference with interval and n, and its p, corrected by Holm.

    alone: whether the interval leaves out 0 all the same.
    """

    verdict: str
    sign: str
    difference: Shown
    p: str
    alone: bool


@dataclass(frozen=True)
class VerdictMatrix:
    """One measure; `rows` has, for each agent in order, a cell for each agent, None for itself or no comparison."""

    measure: str
    agents: tuple[str, ...]
    rows: tuple[tuple[VerdictCell | None, ...], ...]
    n_decided: int
    n_pairs: int
    detectable: str
    lacking: tuple[str, ...]
    said: tuple[str, ...]

    @property
    def n(self) -> str:
        """How many queries each of the pairs is compared on, where that is the same; else ''."""
        given = {cell.difference.n for row in self.rows for cell in row if cell}
        return given.pop() if len(given) == 1 else ""


def verdict_matrices(results: Results) -> list[VerdictMatrix]:
    """A matrix for each measure compared, in the order of the file."""
    measures = dict.fromkeys(row.measure for row in results.comparisons)
    return [_matrix(m, [row for row in results.comparisons if row.measure == m], results.agents) for m in measures]


def _matrix(measure: str, rows: list[Comparison], order: tuple[str, ...]) -> VerdictMatrix:
    cells = {(row.agent_a, row.agent_b): _cell(row, 1) for row in rows}
    cells |= {(row.agent_b, row.agent_a): _cell(row, -1) for row in rows}
    agents = tuple(agent for agent in order if any(agent in pair for pair in cells))
    least = [row.detectable for row in rows if row.detectable is not None]
    return VerdictMatrix(
        measure=measure_name(measure),
        agents=agents,
        rows=tuple(tuple(cells.get((one, other)) for other in agents) for one in agents),
        n_decided=sum(row.verdict != "not distinguishable" for row in rows),
        n_pairs=len(rows),
        detectable=f"{_number(min(least), measure)} to {_number(max(least), measure)}" if least else "",
        lacking=tuple(sorted({query for row in rows for query in (*row.lacking_a, *row.lacking_b)})),
        said=tuple(row.sentence for row in rows),
    )


def _cell(row: Comparison, side: int) -> VerdictCell:
    verdict = row.verdict if side > 0 else _OTHER.get(row.verdict, row.verdict)
    figure = row.difference if side > 0 else _turned(row.difference)
    words = shown(figure, kind_of_difference(row.measure))
    p = "not defined" if row.p_holm is None else "< 0.001" if row.p_holm < 0.001 else f"{row.p_holm:.3f}"
    alone = verdict == "not distinguishable" and leaves_out_0(figure)
    return VerdictCell(verdict, SIGNS[verdict], words, p, alone)


def _turned(figure: Figure) -> Figure:
    ends = [None if end is None else -end for end in (figure.ci_high, figure.ci_low)]
    value = None if figure.value is None else -figure.value
    return figure.model_copy(update={"value": value, "ci_low": ends[0], "ci_high": ends[1]})


def _number(value: float, measure: str) -> str:
    return number(value, kind_of_difference(measure))


MOST_BYTES = 2_900_000
"""How long the page may be, so that it can be mailed and opens at once; its figures always have room."""
_QUERIES, _PASSAGES = Markup("<!--queries-->"), Markup("<!--passages-->")
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
    try:
        return Results.model_validate(read_json(path))
    except ValidationError as error:
        remedy = "run `ragassay compare` again"
        raise InputError(first_problem(error), file=path, remedy=remedy) from None


def render(
    results: Results,
    evidence: Evidence,
    k: int,
    screening: ScreenResults | None = None,
    validity: Sequence[Line] = (),
) -> str:
    """The page. The same records give the same bytes; `k` passages stand for an answer that names none."""
    templates = environment()
    names = sorted(results.agents)
    templates.globals |= {
        "colour": {name: names.index(name) % plots.COLOURS for name in names},
        "measure_name": measure_name,
        "splits": split_of(results),
        "measure_help": measure_help,
        "label_name": label_name,
        "share": share_of,
    }
    context = (
        _overview(results)
        | _details(results)
        | {
            "r": results,
            "confidence": confidence(results),
            "notices": notices(results, evidence),
            "listed": bool(evidence.lists),
            "looks": evidence.looks,
            "by_kind": kinds_line(originals(evidence.queries), evidence.kinds_asked),
            "queries": _QUERIES,
            "passages": _PASSAGES,
            "kinds": kinds(results),
            "heat": heat_map(evidence, results.agents),
            "share_rows": share_rows(results),
            "tag_rows": tag_rows(results),
            "suspicious": evidence.suspicious,
            "screening": screening_shown(screening) if screening else None,
            "validity": validity,
        }
    )
    templates.globals["r"] = results
    figures = templates.get_template("report.html.j2").render(context)
    room = MOST_BYTES - size(figures)
    queries, passages = evidence_sections(templates, evidence, results.agents, criteria(results), k, room)
    return figures.replace(_QUERIES, queries).replace(_PASSAGES, passages)


def notices(results: Results, evidence: Evidence) -> list[str]:
    """What a reader must know before the verdict: what `compare` noted, then the documents that could not be read."""
    looks = evidence.looks  # a sentence of the page, which says it again further down
    told = [notice[:1].upper() + notice[1:] if notice == looks else notice for notice in results.notices]
    for doc, error in evidence.unreadable:
        if not any(doc in notice or one_line(doc) in notice for notice in told):
            told.append(f"{one_line(doc)} could not be read and is not in the corpus: {one_line(error)}.")
    return told


def _overview(results: Results) -> dict[str, Any]:
    scored = [figure for agent in results.agents if (figure := results.points.get(agent))]
    strengths = [figure for agent in results.agents if (figure := results.bradley_terry.get(agent))]
    lead = lead_rows(results)
    return {
        "front": front(results),
        "lead": lead,
        "lead_axis": lead_axis(lead),
        "beside": beside_the_verdict(results.verdict),
        "to_decide": to_decide(results),
        "judge_brief": judge_in_brief(None if results.panel else results.audit),
        "corrected_verdicts": corrected_verdicts(results),
        "ranking": ranking_columns(results),
        "elo_columns": elo_columns(results),
        "total": usage_total(results.usage),
        "rating_plots": [
            ("Points", results.points, plots.scale(scored, 3), "", "points"),
            (
                "Bradley–Terry strength",
                results.bradley_terry,
                plots.scale(strengths, 3),
                results.bradley_terry_note or "",
                "rating",
            ),
        ],
    }


def _details(results: Results) -> dict[str, Any]:
    return {
        "bottom": bottom_columns(results),
        "retrieval": columns(results.retrieval, results.agents),
        "people": columns(results.retrieval_people, results.agents),
        "answer_columns": answer_columns(results),
        "evaluator_tables": evaluator_tables(results),
        "families": families(results),
        "few": are_few(results),
        "told": [(True, line) for line in problem_lines(results)] + [(False, line) for line in insight_lines(results)],
        "grids": grids(results),
        "most_told": MOST,
        "criteria": [(name, label_counts(results, name)) for name in criteria(results)],
        "corrected_tables": corrected_tables(results.corrected),
        "second_tables": corrected_tables(results.second.corrected if results.second else None),
        "second_agreement": agreement_rows(results.second.corrected if results.second else None),
        "agreement_rows": agreement_rows(results.corrected),
        "agreement_names": list(SHOWN.values()),
        "second_names": [name.replace("people", "second judge") for name in SHOWN.values()],
        "audit_rows": audit_rows(results.audit),
        "judge_rows": judge_rows(results),
        "disagreement_rows": disagreement_rows(results),
        "length_plots": length_plots(results),
        "pools": [
            (title, pools, pool_columns(pools, results.agents))
            for title, pools in (("", results.pool), ("By people’s labels", results.pool_people))
            if pools
        ],
        "relevance_parts": label_parts(results.relevance_labels, results.n_relevance_failed),
        "tests": test_rows(results.tests),
        "verdict_matrices": verdict_matrices(results),
        "orders_shown": orders_shown(results),
        "orders_caution": caution(results),
        "uneven": any(row.unwritten or row.extra for row in results.ledger),
        "ledger_totals": ledger_totals(results.ledger),
        "usage": usage_rows(results.usage),
    }
