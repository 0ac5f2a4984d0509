"""`ragassay validity CORPUS`: how far the test set can be trusted."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ragassay.text import plain

from ..terminal import add_corpus, add_json

if TYPE_CHECKING:
    from ragassay.evaluate.validity.questions import Reading
    from ragassay.evaluate.validity.records import Validity
    from ragassay.experiment.workspace import Workspace
    from ragassay.records import Figure
    from ragassay.synth.choosing.features import Passages


def add_validity(verb: argparse.ArgumentParser) -> None:
    """Its options."""
    add_corpus(verb)
    verb.add_argument("--no-embeddings", action="store_true", help="tell questions apart by how they look alone")
    add_json(verb)


def run_validity(options: argparse.Namespace) -> int:
    """Write `validity.json` and `validity.html`, and print their sentences."""
    from ragassay.evaluate.validity.validity import write_validity
    from ragassay.synth.questions.own import read_expert_questions

    from ..pipeline.opening import locked, open_workspace
    from ..terminal import print_json

    workspace = open_workspace(options)
    with locked(workspace):
        experts = read_expert_questions(workspace.expert_questions, needed=False)
        reading = _reading(workspace, embeds=not options.no_embeddings)
        found = write_validity(workspace, [question.text for question in experts], reading)
    if options.json:
        print_json(found.dump())
    else:
        _print(found, workspace)
    return 0


def _reading(workspace: Workspace, *, embeds: bool) -> Reading:
    """Words and stems as questions are compared by, BM25 over the passages of [ingest], and the two-sample test."""
    from ragassay.evaluate.validity.questions import Reading
    from ragassay.experiment.workspace import read_passages
    from ragassay.synth.choosing.features import Passages
    from ragassay.synth.questions.reject import shape_of, words_of

    language = workspace.experiment.corpus.language
    texts = [passage.text for passage in read_passages(workspace.passages)] if workspace.passages.exists() else []
    passages = Passages(texts, language)
    apart = _apart(workspace, passages) if embeds else None
    return Reading(words_of, lambda text: shape_of(text, language).content, passages.best, apart)


def _apart(workspace: Workspace, passages: Passages) -> Callable[[Sequence[str], Sequence[str]], Figure | None] | None:
    """The test by looks and meaning; None where the experiment's embedding is not on this machine."""
    from ragassay.errors import InputError
    from ragassay.models.encoders import check_encoder, load_encoder, prompt_for
    from ragassay.synth.choosing.features import features_of
    from ragassay.synth.choosing.told_apart import told_apart_by_meaning

    experiment = workspace.experiment
    name, language = experiment.retrieval.embedding, experiment.corpus.language
    try:
        check_encoder(name, "the two-sample test")
    except InputError:
        return None

    def embed(given: Sequence[str]) -> Any:
        model: Any = load_encoder(name)
        return model.encode(list(given), prompt=prompt_for(name, model.prompts, "query"), show_progress_bar=False)

    def apart(people: Sequence[str], ours: Sequence[str]) -> Figure | None:
        seed = experiment.questions.seed
        return told_apart_by_meaning(people, ours, lambda text: features_of(text, passages, language), embed, seed=seed)

    return apart


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
