"""How far a test set can be trusted for its corpus: what it is read from, every part, and the two files that say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ragassay.errors import InputError
from ragassay.evidence import Documents, Evidence, Graded, Span, place_of, read_graded
from ragassay.experiment.workspace import VariantRun, Workspace
from ragassay.files import digest_file, read_model, read_qrels, read_records, read_run, write_json, write_text
from ragassay.records import Figure, Page, Passage, Query, QuestionsCheck, Section, grouped, left_out, originals
from ragassay.text import one_line, untrusted

from ..audit.taste import writers_of
from ..inputs.clusters import source_clusters, writer
from ..inputs.labels import HIGHEST
from ..measures.by_place import section_recall, sources
from ..results import Part
from ..screening.screen import screened_by
from ..screening.screened import read_runs
from .difficulty import authors, difficulty
from .people import Basis, people
from .questions import Measured, Question, Reading, asked_by_people, written
from .records import Validity
from .wording import Corpus, coverage, leak, realism


def write_validity(workspace: Workspace, experts: Sequence[str], reading: Reading) -> Validity:
    """Write `validity.json` and `validity.html`. experts: the questions of questions.txt. Raises InputError."""
    found = validity(workspace, read_material(workspace), experts, reading)
    write_json(workspace.validity, found.dump())
    write_text(workspace.validity_page, render(found))
    return found


def validity(workspace: Workspace, material: Material, experts: Sequence[str], reading: Reading) -> Validity:
    """The record. A part that has too little to go by abstains and says why."""
    seed = 7
    questions, measured = material.questions, material.measured.get("evidence")
    experiment, asked = workspace.experiment, workspace.experiment.questions
    roles = asked.roles if isinstance(asked.roles, tuple) else ()
    kinds = asked.kinds if asked.from_needs else {}
    answerers = tuple(writers_of(experiment).values())
    covered = coverage(questions, material.evidence, material.corpus, kinds, roles, reading)
    parts = {
        "leak": leak(questions, experts, measured, reading),
        "realism": realism(questions, experts, material.check, reading),
        "coverage": covered.model_copy(update={"said": (*covered.said, *left_out(material.n_perturbed))}),
        "difficulty": difficulty(questions, measured, seed),
        "authors": authors(questions, measured, answerers, experiment.judge.models, seed),
        "people": people(questions, material.measured, seed),
    }
    ours = len(written(questions))
    return Validity(
        corpus=workspace.corpus.resolve().name,
        n_written=ours,
        n_real=len(questions) - ours,
        n_experts=len(asked_by_people(questions, experts)),
        n_variants=len(measured.names) if measured else 0,
        quality=measured.quality if measured else None,
        warnings=tuple(warning for part in parts.values() for warning in part.warnings),
        queries=digest_file(workspace.queries),
        **parts,
    )


class Material(NamedTuple):
    """questions: without perturbed ones, of which there are n_perturbed. evidence: by query id. measured: quality by
    what it is held against; empty without a screening.
    """

    questions: tuple[Question, ...]
    evidence: Mapping[str, Evidence]
    corpus: Corpus
    check: QuestionsCheck | None
    measured: Mapping[Basis, Measured]
    n_perturbed: int = 0


def read_material(workspace: Workspace) -> Material:
    """Raises InputError where there are no questions, or a file is not as it should be."""
    if not workspace.queries.exists():
        remedy = f"run `ragassay questions {workspace.corpus}` first"
        raise InputError("there are no questions yet", file=workspace.queries, remedy=remedy)
    there = read_records(workspace.queries, Query)
    queries = originals(there)
    if not queries:
        raise InputError("has no question of its own", file=workspace.queries, remedy="run `ragassay questions` again")
    graded = read_graded(workspace.queries, workspace.pages, workspace.passages, workspace.own_qrels)
    evidence = {query: pieces.relevant for query, pieces in graded.items()}
    pages = read_records(workspace.pages, Page) if workspace.pages.exists() else []
    documents = Documents(pages)
    runs = read_runs(workspace, there) if workspace.screening_runs.exists() else []
    sections = read_records(workspace.sections, Section) if workspace.sections.exists() else []
    check = None
    if workspace.questions_check.exists():
        check = read_model(workspace.questions_check, QuestionsCheck, "run `ragassay questions` again")
    return Material(
        _questions(queries, evidence, documents),
        evidence,
        Corpus(
            {one.id: Span(one.doc, one.start, one.end) for one in sections},
            {(page.doc, page.page): documents.of_pages(page.doc, page.page, page.page) for page in pages},
        ),
        check,
        _measured(workspace, queries, graded, runs),
        len(there) - len(queries),
    )


def _questions(queries: list[Query], evidence: Mapping[str, Evidence], documents: Documents) -> tuple[Question, ...]:
    clusters = source_clusters(queries)

    def said(query: Query, key: str) -> str:
        value = query.metadata.get(key)
        return value if isinstance(value, str) else ""

    return tuple(
        Question(
            id=query.id,
            text=query.text,
            cluster=clusters.names[clusters.number(query.id)],
            author=writer(query),
            **{key: said(query, key) for key in ("kind", "role", "doc", "section")},
            evidence="\n".join(documents.text(doc)[start:end] for doc, start, end in evidence.get(query.id, ())),
        )
        for query in queries
    )


def _measured(
    workspace: Workspace, queries: list[Query], evidence: Mapping[str, Graded], runs: Sequence[VariantRun]
) -> dict[Basis, Measured]:
    """By the evidence, by the passages that the judge found to answer, where it was asked, and by source section beside
    the first of these that people's questions have."""
    if not runs:
        return {}
    bases: dict[Basis, Mapping[str, Graded]] = {"evidence": evidence, "judge": _by_judge(workspace)}
    found: dict[Basis, Measured] = {}
    for basis, pieces in bases.items():
        if held := [query for query in queries if query.id in pieces]:
            found[basis] = Measured.of(screened_by(workspace, runs, held, pieces))
    for beside in found.values():
        if by_source := by_section(workspace, runs, queries, beside):
            return found | {"section": by_source}
    return found


def by_section(
    workspace: Workspace, runs: Sequence[VariantRun], queries: Sequence[Query], beside: Measured
) -> Measured | None:
    """R(section)@k of the written questions that have a source section, and people's values of `beside`.

    k is the variant's own, or the experiment's. None where no written question, or none of people's in `beside`, is
    left. A question on which a variant failed, or of which the place of what was found is not known, is NaN.
    """
    sections = read_records(workspace.sections, Section) if workspace.sections.exists() else []
    found = sources([query for query in queries if writer(query) is not None], sections)
    real = beside.only([query.id for query in queries if writer(query) is None])
    if not found or not real.clusters.queries:
        return None
    passages = {passage.id: passage for passage in read_records(workspace.passages, Passage)}
    by_name = {run.variant: run for run in runs}
    values = np.full((len(beside.names), len(found)), np.nan)
    for row, name in enumerate(beside.names):
        run, rankings = by_name[name], read_run(workspace.screening / f"{name}.trec")
        tried = {query: None if query in run.errors else rankings.get(query, ()) for query in found}
        recalled = section_recall(found, passages, tried, run.k or workspace.experiment.retrieval.k)
        values[row] = [np.nan if value is None else value for value in recalled.values()]
    clusters = source_clusters(queries).of([*real.clusters.queries, *found])
    return Measured(beside.names, beside.families, np.hstack([real.values, values]), clusters, beside.quality)


def _by_judge(workspace: Workspace) -> dict[str, Graded]:
    """Where the passages stand that the judge gave a grade, by query of which one is "very relevant"; without
    `qrels.trec` nowhere."""
    if not workspace.qrels.exists():
        return {}
    places = {passage.id: place_of(passage) for passage in read_records(workspace.passages, Passage)}
    found = {}
    for query, labels in read_qrels(workspace.qrels).items():
        spans = [(span, label) for name, label in labels.items() if (span := places.get(name))]
        if any(label >= HIGHEST for _, label in spans) and (graded := Graded.of(spans)):
            found[query] = graded
    return found


TEMPLATES = Path(__file__).with_name("templates")
TITLES = {
    "leak": "Leak: do questions give themselves away?",
    "realism": "Realism: do they look like people’s?",
    "coverage": "Coverage: what are they about?",
    "difficulty": "Difficulty: which tell systems apart?",
    "authors": "Authors: does the order hang on who wrote them?",
    "people": "People: do they say what people’s questions say?",
}
LABELS = {
    "shared_evidence": "share of a question’s content words that its evidence has",
    "run_share_evidence": "longest run of words that the evidence has, as a share of the question",
    "run_evidence": "longest run of words that the evidence has, in words",
    "copied": "share of questions that are copied",
    "shared_best": "share of content words that the passage found first has",
    "real_shared_best": "the same of people’s questions",
    "difference_shared_best": "the difference",
    "run_share_best": "longest run of words that the passage found first has, as a share of the question",
    "real_run_share_best": "the same run of people’s questions",
    "difference_run_share_best": "the difference of the runs",
    "opening": "share that begin with the same three words",
    "real_opening": "the same share of people’s questions",
    "difference_opening": "the difference",
    "auc_with_meaning": "AUC by looks and embeddings, 0.5 is ideal",
    "copies": "share that nearly repeat one of people’s",
    "documents": "documents asked about, of all",
    "sections": "sections asked about, of all",
    "characters": "characters in these sections, of all",
    "pages": "pages asked about, of all",
    "evidence_characters": "characters in evidence, of all",
    "near_duplicates": "share that nearly repeat another",
    "all_pass": "share that every variant passes",
    "all_fail": "share that every variant fails",
    "alike": "share on which all variants are alike",
    "against": "share that tell variants apart the wrong way round",
    "one_family": "share whose author, answerer and judge are one family",
    "tau_b": "τ-b of the two orders",
    "rho": "ρ of the two orders",
    "loss": "what the chosen loses",
    "place": "the chosen’s place by people’s",
    "decided": "share of people’s decided pairs that are decided",
    "contradicted": "of these, the other way round",
}
"""What a figure's field is called on the page."""


class Table(NamedTuple):
    """header: of each column. rows: a text or a `Figure` a cell."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]


class ShownPart(NamedTuple):
    """A part as it is shown."""

    name: str
    title: str
    part: Part
    tables: Sequence[Table]


def render(found: Validity) -> str:
    """The page. The same record gives the same bytes."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda one: untrusted(one) if isinstance(one, str) and not isinstance(one, Markup) else one,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"one_line": one_line, "cell": _cell}
    sections, more = [], grouped(_tables(found))
    for name, title in TITLES.items():
        part = getattr(found, name)
        rows = [(_label(key), figure) for key, figure in getattr(part, "figures", {}).items()]
        if name == "realism" and part.check and part.check.auc:
            rows.append(("AUC of a classifier", part.check.auc))
        figures = [Table("Figures", ("", "value"), rows)] if rows else []
        sections.append(ShownPart(name, title, part, [*figures, *more.get(name, ())]))
    return environment.get_template("validity.html.j2").render(v=found, sections=sections)


def _cell(cell: str | Figure) -> tuple[str, str]:
    """The value, and under it interval, n and how many failed."""
    if isinstance(cell, str):
        return cell, ""
    if cell.value is None:
        return "–", f"n {cell.n:,}"
    ends = "" if cell.ci_low is None or cell.ci_high is None else f"[{cell.ci_low:.2f}, {cell.ci_high:.2f}] "
    failed = f", {cell.n_failed:,} failed" if cell.n_failed else ""
    return f"{cell.value:.2f}", f"{ends}n {cell.n:,}{failed}"


def _tables(found: Validity) -> Iterator[tuple[str, Table]]:
    """Each table beside the figures, with the part that it is of."""
    if thirds := found.leak.thirds:
        parts = [f"overlap {third.low:.2f} to {third.high:.2f}" for third in thirds]
        sides = (
            (f"Mean {found.quality} by overlap with the evidence", "family", [third.families for third in thirds]),
            ("The same of each variant", "variant", [third.variants for third in thirds]),
        )
        for caption, of, figures in sides:
            rows: list[list[Any]] = [[name, *(one[name] for one in figures)] for name in figures[0]]
            yield "leak", Table(caption, [of, *parts], rows)
    if gains := found.leak.interactions:
        rows = [[f"{one.family} – {one.other}", one.figure] for one in gains]
        caption = "How much more one family gains by overlap (difference of slopes)"
        yield "leak", Table(caption, ["families", "value"], rows)
    if found.realism.check and (looks := found.realism.check.features):
        rows = [[row.feature, f"{row.experts:.2f}", f"{row.written:.2f}", _number(row.difference)] for row in looks]
        header = ["feature", "people’s", "written", "difference in deviations"]
        yield "realism", Table("What gives them away", header, rows)
    if copies := found.realism.copies:
        rows = [[one.text, one.real, f"{one.similarity:.2f}"] for one in copies]
        yield "realism", Table("Nearest copies", ["written", "people’s", "similarity"], rows)
    covered = found.coverage
    for what, asked in (("document", covered.documents), ("kind", covered.kinds), ("role", covered.roles)):
        if asked:
            rows = [[row.name, row.share, _number(row.expected)] for row in asked]
            yield "coverage", Table(f"Share of the written questions by {what}", [what, "share", "expected"], rows)
    if questions := sorted(found.difficulty.questions, key=lambda one: one.difficulty.value or 0.0):
        kept = found.difficulty.subset.questions if found.difficulty.subset else ()
        said = dict.fromkeys(kept, "in the smaller set")
        rows = [[one.id, one.difficulty, one.discrimination, said.get(one.id, "")] for one in questions]
        header = ["question", "difficulty", "discrimination", ""]
        yield "difficulty", Table("Each question, the hardest first", header, rows)
    if groups := found.authors.groups:
        header = ["by", "", "questions", "τ-b with the others", "τ-b without, with all"]
        rows = [[one.by, one.name, f"{one.n:,}", one.tau_b, one.tau_b_left_out] for one in groups]
        yield "authors", Table("The order by the questions of one, and without them", header, rows)
    if favours := found.authors.favours:
        rows = [[one.by, one.group, one.family, one.figure] for one in favours]
        header = ["by", "", "family", "lead there less elsewhere"]
        yield "authors", Table("Each family’s lead over the field", header, rows)
    if beside := found.people.beside:
        names = list(beside[0].figures)
        rows = [[one.basis, *(one.figures[name] for name in names)] for one in beside]
        yield "people", Table("Written questions beside people’s", ["by", *map(_label, names)], rows)


def _label(key: str) -> str:
    return LABELS.get(key, key.replace("_", " "))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
