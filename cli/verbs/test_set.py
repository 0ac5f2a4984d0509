"""`ragassay check`, `perturb` and `validity`: what is wrong with a test set, the same set in changed words, and how far
it can be trusted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.errors import InputError
from ragassay.text import plain

from ..terminal import (
    add_corpus,
    add_json,
    add_junit,
    interval_of,
    path_of,
    print_json,
    print_table,
    value_of,
    write_junit,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ragassay.calls.caller import Caller
    from ragassay.experiment.workspace import Workspace
    from ragassay.records import Figure
    from ragassay.synth.checking.test_set import Checked, Covered, Finding, Overlaps
    from ragassay.synth.perturbing.perturb import Perturbed
    from ragassay.synth.questions.reject import Embed

    from ..pipeline.plan import Pace, Row

    Made = Callable[[Caller | None], Perturbed]
    from ragassay.evaluate.validity.questions import Reading
    from ragassay.evaluate.validity.records import Validity
    from ragassay.synth.looks import Passages

SHOWN = 3
"""Findings of each fault in the terminal; --json and --out have all."""


def add_check(verb: argparse.ArgumentParser) -> None:
    """Its options."""
    verb.add_argument(
        "set", type=path_of, metavar="SET", help="BEIR's queries.jsonl, or a set of Ragas, RAGElo, DeepEval, or CSV"
    )
    verb.add_argument(
        "--corpus",
        type=path_of,
        metavar="DIR",
        help="a results folder, a folder of PDFs (which are read), or a corpus.jsonl (BEIR)",
    )
    verb.add_argument(
        "--qrels", type=path_of, metavar="FILE", help="labels of passages, for questions without evidence"
    )
    verb.add_argument(
        "--experts", type=path_of, metavar="FILE", help="people's questions; default: questions.txt of DIR, if there"
    )
    verb.add_argument("--language", metavar="CODE", help="of stems; default: that of DIR's experiment.toml, or en")
    verb.add_argument(
        "--embedding", metavar="MODEL", help="tell near-duplicates by meaning too, as all-MiniLM-L6-v2 does"
    )
    verb.add_argument("--out", type=path_of, metavar="FILE", help="write every question here, for accept and reject")
    verb.add_argument(
        "--accepted", type=path_of, metavar="CSV", help="read that sheet back: write what it accepts of SET to --out"
    )
    add_junit(verb)
    add_json(verb)


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

    items, n_perturbed = apart(read_test_set(options.set), options.set)
    if options.qrels:
        items = with_labels(items, options.qrels)
    experts = _experts(options)
    corpus, notices = read_corpus(options.corpus, options.language, counter(StderrProgress(), "pages read"))
    checked = check_set(options.set, items, corpus, experts, _embed(options.embedding))
    checked = checked.model_copy(update={"notes": (*notices, *left_out(n_perturbed), *checked.notes)})
    if options.out:
        write_sheet(options.out, items, checked)
    if options.junit:
        write_junit(options.junit, "ragassay check", _cases(checked))
    if options.json:
        print_json(checked.dump())
        return 0
    _print_checked(checked)
    if options.out:
        print(f"{plain(str(options.out))}: {len(items)} questions; write accept or reject into the column verdict")
    return 0


def _cases(checked: Checked) -> list[tuple[str, str, str, str]]:
    """Of each fault whether it was found, with the questions that have it; skipped where none could be judged."""
    cases: list[tuple[str, str, str, str]] = []
    for fault, count in checked.counts.items():
        own = [f"{one.id}: {one.detail}" for one in checked.findings if one.fault == fault]
        said = f"{count.found} of {count.n}, {count.n_not_judged} not judged; {'; '.join(own)}"
        outcome = "failure" if count.found else "passed" if count.n else "skipped"
        cases.append((checked.set, fault, outcome, said))
    return cases


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


def _experts(options: argparse.Namespace) -> Sequence[str]:
    from ragassay.synth.questions.own import read_expert_questions

    path: Path = options.experts or options.corpus / "questions.txt"
    return [one.text for one in read_expert_questions(path, needed=bool(options.experts))]


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
            _print_findings(fault, found)
    _print_set(checked)
    for note in checked.notes:
        print(f"note: {plain(note)}")


def _print_findings(fault: str, found: Sequence[Finding]) -> None:
    more = f", the first {SHOWN}" if len(found) > SHOWN else ""
    rows = [(one.id, f"{one.line or one.row}", one.detail) for one in found[:SHOWN]]
    print_table(f"{fault}: {len(found)}{more}", ("id", "line" if found[0].line else "row", "what"), rows)


def _print_set(checked: Checked) -> None:
    place = checked.coverage
    rows = [("documents asked about", _covered(place.documents), "")]
    if place.sections:
        rows.append(("sections asked about", _covered(place.sections), ""))
    for whose, overlaps in (("", checked.overlap), ("experts' ", checked.experts_overlap)):
        rows += _overlap_rows(whose, overlaps) if overlaps else []
    print_table("the set as a whole", ("", "value", "95% interval"), rows)
    print(
        f"where: {place.n_by_evidence} by their evidence, {place.n_by_search} by the passage found first, "
        f"{place.n_nowhere} nowhere"
    )
    if checked.realism and checked.realism.said:
        print(plain(checked.realism.said))
    if checked.partly_found:
        print(
            f"evidence found only in part: {len(checked.partly_found)} ({plain(', '.join(checked.partly_found[:3]))})"
        )


def _overlap_rows(whose: str, overlaps: Overlaps) -> list[tuple[str, str, str]]:
    return [
        (f"{whose}words in a row that a passage has", *_mean(overlaps.run.mean)),
        (f"{whose}share of content words that a passage has", *_mean(overlaps.shared.mean)),
    ]


def _mean(figure: Figure) -> tuple[str, str]:
    return value_of(figure, ".2f"), interval_of(figure, ".2f")


def _covered(covered: Covered) -> str:
    return f"{covered.asked} of {covered.of}"


def add_perturb(verb: argparse.ArgumentParser) -> None:
    """Its options."""
    verb.add_argument("queries", type=path_of, metavar="QUERIES", help="BEIR's queries.jsonl, or a folder with one")
    verb.add_argument("--out", type=path_of, required=True, metavar="JSONL", help="originals and what is made of them")
    verb.add_argument(
        "--kinds",
        default="typos,word-order,case",
        metavar="KIND,KIND",
        help="typos, word-order, synonyms, case, paraphrase; default: typos,word-order,case",
    )
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="of the draw; default: 7")
    verb.add_argument("--synonyms", type=path_of, metavar="CSV", help="of synonyms: lines of word,synonym,…")
    verb.add_argument(
        "--model", metavar="MODEL", help="of paraphrases, and synonyms without a table, such as openai:gpt-4o"
    )
    verb.add_argument("--base-url", metavar="URL", help="the address of --model, if not its provider's")
    verb.add_argument("--max-cost", type=float, metavar="USD", help="stop before the model costs more (default: 20)")
    verb.add_argument("--work", type=path_of, metavar="DIR", help="requests and replies (default: OUT.work)")
    verb.add_argument("--plan", action="store_true", help="say what the model would be asked, ask and write nothing")


def run_perturb(options: argparse.Namespace) -> int:
    """Write --out, and say how many of each kind there are; with --plan say what a model would be asked alone."""
    from ragassay.files import write_records
    from ragassay.synth.perturbing.perturb import asks_model, check_kinds, perturb, read_synonyms
    from ragassay.synth.questions.own import read_own_queries

    kinds = check_kinds([name.strip() for name in options.kinds.split(",") if name.strip()])
    source: Path = options.queries / "queries.jsonl" if options.queries.is_dir() else options.queries
    if options.out.exists() and source.exists() and options.out.resolve() == source.resolve():
        raise InputError("--out is the file that is read", file=options.out, remedy="name another one")
    table = read_synonyms(options.synonyms) if options.synonyms else None
    made = partial(perturb, read_own_queries(source), kinds, options.seed, table, model=options.model or "")
    asking = bool(options.model and asks_model(kinds, table))
    if options.plan:
        _print_plan(lambda caller: made(caller=caller), asking, options)
        return 0
    found = _with_a_model(lambda caller: made(caller=caller), options) if asking else made()
    write_records(options.out, found.queries)
    _print_perturbed(found, kinds, options)
    return 0


def _print_plan(made: Made, asking: bool, options: argparse.Namespace) -> None:
    from ..pipeline.plan import print_plan

    if not asking:
        made(None)
        print("no model is asked")
        return
    workspace = _workspace(options)
    rows, pace = _counted(made, workspace)
    print_plan(rows, pace, workspace.experiment.run.max_cost_usd)


def _counted(made: Made, workspace: Workspace) -> tuple[list[Row], Pace]:
    from ragassay.calls.reply_cache import ReplyCache

    from ..pipeline.plan import counted

    return counted(workspace, "perturb", ReplyCache(workspace.replies), made)


def _with_a_model(made: Made, options: argparse.Namespace) -> Perturbed:
    from ragassay.calls.caller import Caller
    from ragassay.calls.reply_cache import ReplyCache
    from ragassay.progress import StderrProgress

    from ..pipeline.opening import locked

    workspace = _workspace(options)
    with locked(workspace):
        _say_what_is_asked(_counted(made, workspace)[0], workspace)
        caller = Caller(workspace, "perturb", ReplyCache(workspace.replies), StderrProgress())
        try:
            return made(caller)
        finally:
            caller.close()


def _say_what_is_asked(rows: Sequence[Row], workspace: Workspace) -> None:
    """In a sentence, before anything is paid; nothing where every reply is at hand."""
    from ..pipeline.plan import in_all

    for row in rows:
        if row.calls > row.from_cache:
            cached = f", {row.from_cache:,} of them in the cache" if row.from_cache else ""
            tokens = f"{row.input_tokens:,} tokens in and about {row.output_tokens:,} out"
            print(f"{plain(row.model)}: {row.calls:,} calls{cached}, {tokens}", file=sys.stderr)
            print(in_all([row], workspace.experiment.run.max_cost_usd), file=sys.stderr)


def _workspace(options: argparse.Namespace) -> Workspace:
    from .judge import files_workspace

    options.config, options.with_, options.mode = None, "", None
    return files_workspace(options)


def _print_perturbed(made: Perturbed, kinds: tuple[str, ...], options: argparse.Namespace) -> None:
    from ragassay.records import originals

    n = len(originals(made.queries))
    for kind in kinds:
        if there_not := made.unchanged[kind]:
            print(f"note: {kind}: {there_not} of {n} questions hold nothing to change", file=sys.stderr)
        if failed := made.failed[kind]:
            told = plain(made.errors[kind])
            print(f"note: {kind}: {failed} of {n} questions have none, the first since {told}", file=sys.stderr)
    print(f"{options.out}: {n} questions and {len(made.queries) - n} perturbed ones")


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
        _print_validity(found, workspace)
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
    from ragassay.errors import InputError
    from ragassay.models.encoders import check_encoder, load_encoder, prompt_for
    from ragassay.synth.looks import features_of, told_apart_by_meaning

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


def _print_validity(found: Validity, workspace: Workspace) -> None:
    for warning in found.warnings:
        print(plain(f"warning: {warning}"))
    for name in ("leak", "realism", "coverage", "difficulty", "authors", "people"):
        part = getattr(found, name)
        for sentence in part.said:
            print(plain(f"{name}: {sentence}"))
        if part.abstained:
            print(plain(f"{name}, not said: {part.abstained}"))
    print(f"{workspace.shown(workspace.validity_page)} has the figures")
