"""`ragassay validity CORPUS`: how far the test set can be trusted."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ragassay.text import plain

from ..options import Verbs, add_corpus, add_json, add_verb

if TYPE_CHECKING:
    from ragassay.evaluate.validity.questions import Reading
    from ragassay.evaluate.validity.records import Validity
    from ragassay.experiment.workspace import Workspace


def add(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "say how far the test set can be trusted: leak, realism, coverage, difficulty, authors, people"
    verb = add_verb(verbs, "validity", help_text, run)
    add_corpus(verb)
    add_json(verb)


def run(options: argparse.Namespace) -> int:
    """Write `validity.json` and `validity.html`, and print their sentences."""
    from ragassay.evaluate.validity.validity import write_validity
    from ragassay.synth.questions.expert import read_expert_questions

    from ..pipeline.opening import locked, open_workspace
    from ..printing import print_json

    workspace = open_workspace(options)
    with locked(workspace):
        experts = read_expert_questions(workspace.expert_questions, needed=False)
        found = write_validity(workspace, [question.text for question in experts], _reading(workspace))
    if options.json:
        print_json(found.dump())
    else:
        _print(found, workspace)
    return 0


def _reading(workspace: Workspace) -> Reading:
    """Words and stems as questions are compared by, and BM25 over the passages of [ingest]."""
    from ragassay.evaluate.validity.questions import Reading
    from ragassay.experiment.corpus import read_passages
    from ragassay.synth.choosing.best_passage import Passages
    from ragassay.synth.questions.near_duplicates import shape_of, words_of

    language = workspace.experiment.corpus.language
    texts = [passage.text for passage in read_passages(workspace.passages)] if workspace.passages.exists() else []
    return Reading(words_of, lambda text: shape_of(text, language).content, Passages(texts, language).best)


def _print(found: Validity, workspace: Workspace) -> None:
    for warning in found.warnings:
        print(plain(f"warning: {warning}"))
    for name in ("leak", "realism", "coverage", "difficulty", "authors", "people"):
        part = getattr(found, name)
        for sentence in part.said:
            print(plain(f"{name}: {sentence}"))
        if part.abstained:
            print(plain(f"{name}, not said: {part.abstained}"))
    print(f"{workspace.shown(workspace.validity_page)} has the figures")
