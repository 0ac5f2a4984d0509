"""The report: one self-contained HTML page that says first what to choose and how sure that is.

Every text in it is untrusted (`environment`). The page loads nothing and runs nothing, and its content security policy
holds a browser to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import first_problem, read_json, write_text
from ragassay.perturbed import originals
from ragassay.text import one_line

from ..results import Results
from ..screening.records import ScreenResults
from . import plots
from .agreement import SHOWN, agreement_rows
from .asked.question_kinds import kinds_line
from .asked.validity import Line, read_validity
from .audit import audit_rows, length_plots, pool_columns
from .corrected import corrected_tables, corrected_verdicts
from .decision import front, judge_in_brief, lead_axis, lead_rows, to_decide
from .environment import environment
from .evaluators.boards import are_few, families
from .evaluators.models_by_prompts import grids
from .evaluators.told import MOST, insight_lines, problem_lines
from .heat_map import heat_map
from .judges import disagreement_rows, judge_rows, split_of
from .queries.evidence import Evidence, read_evidence
from .queries.room import size
from .queries.section import evidence_sections
from .screening.screen_page import read_screen
from .screening.shown import screening_shown
from .shares import share_rows, tag_rows
from .sources import caution, kinds, orders_shown
from .tables import (
    answer_columns,
    bottom_columns,
    columns,
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
from .verdict_matrix import verdict_matrices
from .wording import beside_the_verdict, confidence, measure_help, measure_name, share_of

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
