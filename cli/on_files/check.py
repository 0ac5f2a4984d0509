"""`ragassay check`: what is wrong with a test set from anywhere, held against its corpus."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

from ..options import Verbs, add_json, add_verb, path_of
from ..printing import interval_of, print_json, print_table, value_of

if TYPE_CHECKING:
    from ragassay.records import Figure
    from ragassay.synth.checking.findings import Checked, Covered, Finding, Overlaps
    from ragassay.synth.questions.near_meaning import Embed

SHOWN = 3
"""Findings of each fault in the terminal; --json and --out have all."""


def add_check(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(
        verbs, "check", "say what is wrong with a test set from anywhere, held against its corpus", run_check
    )
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
    add_json(verb)


def run_check(options: argparse.Namespace) -> int:
    """Print the findings. 0, whatever is found. With --accepted write the questions that the sheet accepts."""
    if options.accepted:
        return _write_accepted(options)
    if not options.corpus:
        raise InputError("--corpus is missing", remedy="name what SET was made from, see `ragassay check --help`")
    from ragassay.perturbed import left_out
    from ragassay.progress import StderrProgress, counter
    from ragassay.synth.checking.check_set import check_set
    from ragassay.synth.checking.read_corpus import read_corpus
    from ragassay.synth.checking.sheet import write_sheet
    from ragassay.synth.checking.test_set import apart, read_test_set, with_labels

    items, n_perturbed = apart(read_test_set(options.set), options.set)
    if options.qrels:
        items = with_labels(items, options.qrels)
    experts = _experts(options)
    corpus, notices = read_corpus(options.corpus, options.language, counter(StderrProgress(), "pages read"))
    checked = check_set(options.set, items, corpus, experts, _embed(options.embedding))
    checked = checked.model_copy(update={"notes": (*notices, *left_out(n_perturbed), *checked.notes)})
    if options.out:
        write_sheet(options.out, items, checked)
    if options.json:
        print_json(checked.dump())
        return 0
    _print(checked)
    if options.out:
        print(f"{plain(str(options.out))}: {len(items)} questions; write accept or reject into the column verdict")
    return 0


def _write_accepted(options: argparse.Namespace) -> int:
    from ragassay.synth.checking.accepted import write_accepted

    if not options.out:
        raise InputError("--accepted goes with --out", remedy="name the file to write with --out")
    for name in ("corpus", "qrels", "experts", "language", "embedding", "json"):
        if getattr(options, name):
            raise InputError(f"--{name} does not go with --accepted", remedy="leave it out")
    n, of = write_accepted(options.set, options.accepted, options.out)
    print(f"{plain(str(options.out))}: {n} of {of} questions")
    return 0


def _experts(options: argparse.Namespace) -> Sequence[str]:
    from ragassay.synth.questions.expert import read_expert_questions

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


def _print(checked: Checked) -> None:
    from ragassay.synth.checking.findings import FAULTS

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
