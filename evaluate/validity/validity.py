"""How far a test set can be trusted for its corpus: every part, and the two files that say so."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.digests import digest_file
from ragassay.experiment.workspace import Workspace
from ragassay.files import write_json, write_text
from ragassay.perturbed import left_out

from ..audit.family import writers_of
from .authors import authors
from .coverage import coverage
from .difficulty import difficulty
from .leak import leak
from .material import Material, read_material
from .page import render
from .people import people
from .questions import Reading, asked_by_people, written
from .realism import realism
from .records import Validity

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
