"""`ragassay check`, `perturb` and `validity`: what is wrong with a test set, the same set in changed words, and how far
it can be trusted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.errors import InputError
from ragassay.text import plain

from ..terminal import add, add_shared, interval_of, path_of, print_json, print_table, value_of, write_junit

if TYPE_CHECKING:
    from ragassay.calls.caller import Caller
    from ragassay.evaluate.validity.questions import Reading
    from ragassay.experiment.workspace import Workspace
    from ragassay.records import Figure
    from ragassay.synth.checking.test_set import Checked
    from ragassay.synth.looks import Passages
    from ragassay.synth.perturbing.perturb import Perturbed
    from ragassay.synth.questions.reject import Embed

SHOWN = 3
"""Findings of each fault in the terminal; --json and --out have all."""


def add_check(verb: argparse.ArgumentParser) -> None:
    add(verb, "set SET", "BEIR's queries.jsonl, or a set of Ragas, RAGElo, DeepEval, or CSV", type=path_of)
    add(
        verb,
        "--corpus DIR",
        "a results folder, a folder of PDFs (which are read), or a corpus.jsonl (BEIR)",
        type=path_of,
    )
    add(verb, "--qrels FILE", "labels of passages, for questions without evidence", type=path_of)
    add(verb, "--experts FILE", "people's questions; default: questions.txt of DIR, if there", type=path_of)
    add(verb, "--language CODE", "of stems; default: that of DIR's experiment.toml, or en")
    add(verb, "--embedding MODEL", "tell near-duplicates by meaning too, as all-MiniLM-L6-v2 does")
    add(verb, "--out FILE", "write every question here, for accept and reject", type=path_of)
    add(verb, "--accepted CSV", "read that sheet back: write what it accepts of SET to --out", type=path_of)
    add_shared(verb, "--junit", "--json")


def run_check(options: argparse.Namespace) -> int:
    """Print the findings. 0, whatever is found. With --accepted write the questions that the sheet accepts."""
    if options.accepted:
        return _write_accepted(options)
    if not options.corpus:
        raise InputError("--corpus is missing", remedy="name what SET was made from, see `ragassay check --help`")
    from ragassay.progress import StderrProgress, counter
    from ragassay.records import left_out
    from ragassay.synth.checking.check_set import check_set
    from ragassay.synth.checking.corpus_text import read_corpus
    from ragassay.synth.checking.test_set import apart, read_test_set, with_labels, write_sheet
    from ragassay.synth.questions.own import read_expert_questions

    items, n_perturbed = apart(read_test_set(options.set), options.set)
    if options.qrels:
        items = with_labels(items, options.qrels)
    known: Path = options.experts or options.corpus / "questions.txt"
    experts = [one.text for one in read_expert_questions(known, needed=bool(options.experts))]
    corpus, notices = read_corpus(options.corpus, options.language, counter(StderrProgress(), "pages read"))
    checked = check_set(options.set, items, corpus, experts, _embed(options.embedding))
    checked = checked.model_copy(update={"notes": (*notices, *left_out(n_perturbed), *checked.notes)})
    if options.out:
        write_sheet(options.out, items, checked)
    if options.junit:
        cases = []
        for fault, count in checked.counts.items():
            own = "; ".join(f"{one.id}: {one.detail}" for one in checked.findings if one.fault == fault)
            outcome = "failure" if count.found else "passed" if count.n else "skipped"
            said = f"{count.found} of {count.n}, {count.n_not_judged} not judged; {own}"
            cases.append((checked.set, fault, outcome, said))
        write_junit(options.junit, "ragassay check", cases)
    if options.json:
        print_json(checked.dump())
        return 0
    _print_checked(checked)
    if options.out:
        print(f"{plain(str(options.out))}: {len(items)} questions; write accept or reject into the column verdict")
    return 0


def _write_accepted(options: argparse.Namespace) -> int:
    from ragassay.synth.checking.test_set import write_accepted

    if not options.out:
        raise InputError("--accepted goes with --out", remedy="name the file to write with --out")
    for name in ("corpus", "qrels", "experts", "language", "embedding", "junit", "json"):
        if getattr(options, name):
            raise InputError(f"--{name} does not go with --accepted", remedy="leave it out")
    n, of = write_accepted(options.set, options.accepted, options.out)
    print(f"{plain(str(options.out))}: {n} of {of} questions")
    return 0


def _embed(model: str | None) -> Embed | None:
    """How questions are embedded; None where no model is named. Raises InputError where it cannot be loaded."""
    if model is None:
        return None
    from ragassay.retrieval.rankers.embedding import Embedder, model_identity
    from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache, Text

    embedder = Embedder(model, EmbeddingCache(model_identity(model), None))
    return lambda texts: embedder.vectors([Text("query", text) for text in texts])


def _print_checked(checked: Checked) -> None:
    from ragassay.synth.checking.test_set import FAULTS

    rows = [
        (FAULTS[fault], fault, str(count.found), str(count.n), str(count.n_not_judged))
        for fault, count in checked.counts.items()
    ]
    print_table(f"{checked.set}: {checked.n} questions", ("fault", "name", "found", "of", "not judged"), rows)
    for fault in FAULTS:
        if found := [finding for finding in checked.findings if finding.fault == fault]:
            more = f", the first {SHOWN}" if len(found) > SHOWN else ""
            some = [(one.id, f"{one.line or one.row}", one.detail) for one in found[:SHOWN]]
            print_table(f"{fault}: {len(found)}{more}", ("id", "line" if found[0].line else "row", "what"), some)
    _print_set(checked)
    for note in checked.notes:
        print(f"note: {plain(note)}")


def _print_set(checked: Checked) -> None:
    place = checked.coverage
    rows = [
        (f"{what} asked about", f"{covered.asked} of {covered.of}", "")
        for what, covered in (("documents", place.documents), ("sections", place.sections))
        if covered
    ]
    for whose, overlaps in (("", checked.overlap), ("experts' ", checked.experts_overlap)):
        if overlaps:
            for what, of in (("words in a row", overlaps.run), ("share of content words", overlaps.shared)):
                name = f"{whose}{what} that a passage has"
                rows.append((name, value_of(of.mean, ".2f"), interval_of(of.mean, ".2f")))
    print_table("the set as a whole", ("", "value", "95% interval"), rows)
    print(
        f"where: {place.n_by_evidence} by their evidence, {place.n_by_search} by the passage found first, "
        f"{place.n_nowhere} nowhere"
    )
    if checked.realism and checked.realism.said:
        print(plain(checked.realism.said))
    if some := checked.partly_found:
        print(f"evidence found only in part: {len(some)} ({plain(', '.join(some[:3]))})")


def add_perturb(verb: argparse.ArgumentParser) -> None:
    add(verb, "queries QUERIES", "BEIR's queries.jsonl, or a folder with one", type=path_of)
    add(verb, "--out JSONL", "originals and what is made of them", type=path_of, required=True)
    add(verb, "--kinds KIND,KIND", "typos, word-order, synonyms, case, paraphrase", default="typos,word-order,case")
    add(verb, "--seed N", "of the draw", type=int, default=7)
    add(verb, "--synonyms CSV", "of synonyms: lines of word,synonym,…", type=path_of)
    add(verb, "--model MODEL", "of paraphrases, and synonyms without a table, such as openai:gpt-4o")
    add_shared(verb, "--base-url")
    add(verb, "--max-cost USD", "stop before the model costs more (default: 20)", type=float)
    add(verb, "--work DIR", "requests and replies (default: OUT.work)", type=path_of)
    add(verb, "--plan", "say what the model would be asked, ask and write nothing", action="store_true")


def run_perturb(options: argparse.Namespace) -> int:
    """Write --out, and say how many of each kind there are; with --plan say what a model would be asked alone."""
    from ragassay.files import write_records
    from ragassay.records import originals
    from ragassay.synth.perturbing.perturb import asks_model, check_kinds, perturb, read_synonyms
    from ragassay.synth.questions.own import read_own_queries

    kinds = check_kinds([name.strip() for name in options.kinds.split(",") if name.strip()])
    source: Path = options.queries / "queries.jsonl" if options.queries.is_dir() else options.queries
    if options.out.exists() and source.exists() and options.out.resolve() == source.resolve():
        raise InputError("--out is the file that is read", file=options.out, remedy="name another one")
    table = read_synonyms(options.synonyms) if options.synonyms else None
    made = partial(perturb, read_own_queries(source), kinds, options.seed, table, model=options.model or "")
    found: Perturbed | None
    if options.model and asks_model(kinds, table):
        found = _by_model(lambda caller: made(caller=caller), options)
    else:
        found = made()
        if options.plan:
            print("no model is asked")
    if found is None or options.plan:
        return 0
    write_records(options.out, found.queries)
    n = len(originals(found.queries))
    for kind in kinds:
        if there_not := found.unchanged[kind]:
            print(f"note: {kind}: {there_not} of {n} questions hold nothing to change", file=sys.stderr)
        if failed := found.failed[kind]:
            told = plain(found.errors[kind])
            print(f"note: {kind}: {failed} of {n} questions have none, the first since {told}", file=sys.stderr)
    print(f"{options.out}: {n} questions and {len(found.queries) - n} perturbed ones")
    return 0


def _by_model(made: Callable[[Caller], Perturbed], options: argparse.Namespace) -> Perturbed | None:
    """What is made, after a sentence on what is asked, if anything is; with --plan that alone is said."""
    from ragassay.calls.caller import Caller
    from ragassay.calls.reply_cache import ReplyCache
    from ragassay.progress import StderrProgress

    from ..pipeline.opening import locked
    from ..pipeline.plan import counted, in_all, print_plan
    from .judge import files_workspace

    options.config, options.with_, options.mode = None, "", None
    workspace = files_workspace(options)
    limit = workspace.experiment.run.max_cost_usd
    if options.plan:
        print_plan(*counted(workspace, "perturb", ReplyCache(workspace.replies), made), limit)
        return None
    with locked(workspace):
        for row in counted(workspace, "perturb", ReplyCache(workspace.replies), made)[0]:
            if row.calls > row.from_cache:
                cached = f", {row.from_cache:,} of them in the cache" if row.from_cache else ""
                tokens = f"{row.input_tokens:,} tokens in and about {row.output_tokens:,} out"
                print(f"{plain(row.model)}: {row.calls:,} calls{cached}, {tokens}", file=sys.stderr)
                print(in_all([row], limit), file=sys.stderr)
        with closing(Caller(workspace, "perturb", ReplyCache(workspace.replies), StderrProgress())) as caller:
            return made(caller)


def add_validity(verb: argparse.ArgumentParser) -> None:
    add_shared(verb, "CORPUS", "--results")
    add(verb, "--no-embeddings", "tell questions apart by how they look alone", action="store_true")
    add_shared(verb, "--json")


def run_validity(options: argparse.Namespace) -> int:
    """Write `validity.json` and `validity.html`, and print their sentences."""
    from ragassay.evaluate.validity.validity import write_validity
    from ragassay.synth.questions.own import read_expert_questions

    from ..pipeline.opening import locked, open_workspace

    workspace = open_workspace(options)
    with locked(workspace):
        experts = read_expert_questions(workspace.expert_questions, needed=False)
        reading = _reading(workspace, embeds=not options.no_embeddings)
        found = write_validity(workspace, [question.text for question in experts], reading)
    if options.json:
        print_json(found.dump())
        return 0
    for warning in found.warnings:
        print(plain(f"warning: {warning}"))
    for name in ("leak", "realism", "coverage", "difficulty", "authors", "people"):
        part = getattr(found, name)
        for sentence in part.said:
            print(plain(f"{name}: {sentence}"))
        if part.abstained:
            print(plain(f"{name}, not said: {part.abstained}"))
    print(f"{workspace.shown(workspace.validity_page)} has the figures")
    return 0


def _reading(workspace: Workspace, *, embeds: bool) -> Reading:
    """Words and stems as questions are compared by, BM25 over the passages of [ingest], and the two-sample test."""
    from ragassay.evaluate.validity.questions import Reading
    from ragassay.experiment.workspace import read_passages
    from ragassay.synth.looks import Passages
    from ragassay.synth.questions.reject import shape_of, words_of

    language = workspace.experiment.corpus.language
    texts = [passage.text for passage in read_passages(workspace.passages)] if workspace.passages.exists() else []
    passages = Passages(texts, language)
    apart = _apart(workspace, passages) if embeds else None
    return Reading(words_of, lambda text: shape_of(text, language).content, passages.best, apart)


def _apart(workspace: Workspace, passages: Passages) -> Callable[[Sequence[str], Sequence[str]], Figure | None] | None:
    """The test by looks and meaning; None where the experiment's embedding is not on this machine."""
    from ragassay.models.encoders import check_encoder, load_encoder, prompt_for
    from ragassay.synth.looks import features_of, told_apart_by_meaning

    questions, language = workspace.experiment.questions, workspace.experiment.corpus.language
    name = workspace.experiment.retrieval.embedding
    try:
        check_encoder(name, "the two-sample test")
    except InputError:
        return None

    def embed(given: Sequence[str]) -> Any:
        model: Any = load_encoder(name)
        return model.encode(list(given), prompt=prompt_for(name, model.prompts, "query"), show_progress_bar=False)

    features = partial(features_of, passages=passages, language=language)
    return lambda people, ours: told_apart_by_meaning(people, ours, features, embed, seed=questions.seed)
