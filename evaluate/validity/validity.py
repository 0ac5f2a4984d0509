"""How far a test set can be trusted for its corpus: every part, and the two files that say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_file, write_json, write_text
from ragassay.queries import left_out
from ragassay.records import Figure
from ragassay.text import one_line, untrusted

from ..audit.taste import writers_of
from .difficulty import authors, difficulty
from .leak import leak
from .material import Material, read_material
from .people import people
from .questions import Reading, asked_by_people, written
from .realism import coverage, realism
from .records import Asked, Part, Validity

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

Row = Sequence[str | Figure]


class Table(NamedTuple):
    """header: of each column. rows: a text or a figure a cell."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Row]


class Section(NamedTuple):
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
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"one_line": one_line, "cell": _cell}
    sections = [Section(name, title, getattr(found, name), _tables(name, found)) for name, title in TITLES.items()]
    return environment.get_template("validity.html.j2").render(v=found, sections=sections)


def _finalize(value: Any) -> Any:
    return untrusted(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _cell(cell: str | Figure) -> tuple[str, str]:
    """The value, and under it interval, n and how many failed."""
    if isinstance(cell, str):
        return cell, ""
    if cell.value is None:
        return "–", f"n {cell.n:,}"
    ends = "" if cell.ci_low is None or cell.ci_high is None else f"[{cell.ci_low:.2f}, {cell.ci_high:.2f}] "
    failed = f", {cell.n_failed:,} failed" if cell.n_failed else ""
    return f"{cell.value:.2f}", f"{ends}n {cell.n:,}{failed}"


def _tables(name: str, found: Validity) -> list[Table]:
    part = getattr(found, name)
    rows = list(_figure_rows(name, part))
    tables = [Table("Figures", ("", "value"), rows)] if rows else []
    return tables + list(_MORE[name](found))


def _figure_rows(name: str, part: Any) -> Iterator[tuple[str, Figure]]:
    figures: Mapping[str, Figure] = getattr(part, "figures", {})
    yield from ((_label(key), figure) for key, figure in figures.items())
    check = part.check if name == "realism" else None
    if check and check.auc:
        yield "AUC of a classifier", check.auc


def _leak(found: Validity) -> Iterator[Table]:
    if thirds := found.leak.thirds:
        header = ["family", *(f"overlap {third.low:.2f} to {third.high:.2f}" for third in thirds)]
        rows: list[Row] = [[name, *(third.families[name] for third in thirds)] for name in thirds[0].families]
        yield Table(f"Mean {found.quality} by overlap with the evidence", header, rows)
        variants: list[Row] = [[name, *(third.variants[name] for third in thirds)] for name in thirds[0].variants]
        yield Table("The same of each variant", ["variant", *header[1:]], variants)
    if found.leak.interactions:
        gains: list[Row] = [[f"{one.family} – {one.other}", one.figure] for one in found.leak.interactions]
        yield Table("How much more one family gains by overlap (difference of slopes)", ["families", "value"], gains)


def _realism(found: Validity) -> Iterator[Table]:
    if found.realism.check and found.realism.check.features:
        rows = [
            [row.feature, f"{row.experts:.2f}", f"{row.written:.2f}", _number(row.difference)]
            for row in found.realism.check.features
        ]
        yield Table("What gives them away", ["feature", "people’s", "written", "difference in deviations"], rows)
    if found.realism.copies:
        rows = [[one.text, one.real, f"{one.similarity:.2f}"] for one in found.realism.copies]
        yield Table("Nearest copies", ["written", "people’s", "similarity"], rows)


def _coverage(found: Validity) -> Iterator[Table]:
    asked: Mapping[str, Sequence[Asked]] = {
        "document": found.coverage.documents,
        "kind": found.coverage.kinds,
        "role": found.coverage.roles,
    }
    for what, rows in asked.items():
        if rows:
            table: list[Row] = [[row.name, row.share, _number(row.expected)] for row in rows]
            yield Table(f"Share of the written questions by {what}", [what, "share", "expected"], table)


def _difficulty(found: Validity) -> Iterator[Table]:
    kept = set(found.difficulty.subset.questions) if found.difficulty.subset else set()
    rows: list[Row] = [
        [one.id, one.difficulty, one.discrimination, "in the smaller set" if one.id in kept else ""]
        for one in sorted(found.difficulty.questions, key=lambda one: one.difficulty.value or 0.0)
    ]
    if rows:
        yield Table("Each question, the hardest first", ["question", "difficulty", "discrimination", ""], rows)


def _authors(found: Validity) -> Iterator[Table]:
    if groups := found.authors.groups:
        header = ["by", "", "questions", "τ-b with the others", "τ-b without, with all"]
        rows: list[Row] = [[one.by, one.name, f"{one.n:,}", one.tau_b, one.tau_b_left_out] for one in groups]
        yield Table("The order by the questions of one, and without them", header, rows)
    if favours := found.authors.favours:
        leads: list[Row] = [[one.by, one.group, one.family, one.figure] for one in favours]
        header = ["by", "", "family", "lead there less elsewhere"]
        yield Table("Each family’s lead over the field", header, leads)


def _people(found: Validity) -> Iterator[Table]:
    if beside := found.people.beside:
        names = list(beside[0].figures)
        rows: list[Row] = [[one.basis, *(one.figures[name] for name in names)] for one in beside]
        yield Table("Written questions beside people’s", ["by", *map(_label, names)], rows)


def _label(key: str) -> str:
    return LABELS.get(key, key.replace("_", " "))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


_MORE = {
    "leak": _leak,
    "realism": _realism,
    "coverage": _coverage,
    "difficulty": _difficulty,
    "authors": _authors,
    "people": _people,
}


SEED = 7


def write_validity(workspace: Workspace, experts: Sequence[str], reading: Reading) -> Validity:
    """Write `validity.json` and `validity.html`. experts: the questions of questions.txt. Raises InputError."""
    found = validity(workspace, read_material(workspace), experts, reading)
    write_json(workspace.validity, found.dump())
    write_text(workspace.validity_page, render(found))
    return found


def validity(workspace: Workspace, material: Material, experts: Sequence[str], reading: Reading) -> Validity:
    """The record. A part that has too little to go by abstains and says why."""
    questions, measured = material.questions, material.measured.get("evidence")
    experiment = workspace.experiment
    asked = experiment.questions
    roles = asked.roles if isinstance(asked.roles, tuple) else ()
    kinds = asked.kinds if asked.from_needs else {}
    answerers = tuple(writers_of(experiment).values())
    covered = coverage(questions, material.evidence, material.corpus, kinds, roles, reading)
    parts = {
        "leak": leak(questions, experts, measured, reading),
        "realism": realism(questions, experts, material.check, reading),
        "coverage": covered.model_copy(update={"said": (*covered.said, *left_out(material.n_perturbed))}),
        "difficulty": difficulty(questions, measured, SEED),
        "authors": authors(questions, measured, answerers, experiment.judge.models, SEED),
        "people": people(questions, material.measured, SEED),
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
