"""What written questions are worth beside people's: do they put retrievers in the same order, and how surely?

    python -m benchmarks.question_worth COLLECTION QUESTIONS.jsonl [--json]

COLLECTION is a folder in BEIR's layout: corpus.jsonl, queries.jsonl and people's qrels, qrels/test.tsv unless --qrels
names others. A line of QUESTIONS.jsonl has `_id`, `text`, `metadata.kind` (which way it was written) and the id of the
passage it was made from, as `metadata.passage`, `metadata.evidence`, `evidence` or `metadata.doc`.

Both sets score the same 26 retrievers by nDCG@10: people's queries by their qrels, a written question by its own
passage alone. For each kind, and for all kinds together: tau and rho of the two orders, of the pairs that people's
queries decide those that the written ones decide, and decide the other way round, where their best retriever stands in
people's order and what choosing it loses, and how many of people's judged queries would do as well.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.question_worth.collection import asked, by_kind, read_passages, read_people, read_questions
from benchmarks.question_worth.measured import Measured, Words, measure
from benchmarks.question_worth.retrievers import rank
from benchmarks.question_worth.scores import score
from benchmarks.question_worth.shared_words import shared_words
from benchmarks.question_worth.tables import lines
from ragassay.errors import InputError, RagassayError
from ragassay.files import digest_file
from ragassay.models.encoders import OFFLINE_MODEL
from ragassay.retrieval.rankers.analysis import language_code
from ragassay.retrieval.rankers.embedding import Embedder, model_identity
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache

CACHE = Path("results") / "benchmarks" / "question_worth"


def measured(options: argparse.Namespace) -> dict[str, Measured]:
    """Every figure, by kind. Raises InputError."""
    if options.resamples < 2:
        raise InputError(f"--resamples is {options.resamples}", remedy="give 2 or more")
    folder, language = options.collection, language_code(options.language)
    passages = {passage.id: passage for passage in read_passages(folder / "corpus.jsonl")}
    qrels = options.qrels or folder / "qrels" / "test.tsv"
    people = read_people(folder / "queries.jsonl", qrels, passages, options.leave_out)
    kinds = {kind: asked(some) for kind, some in by_kind(read_questions(options.questions, passages)).items()}
    rankings = rank(
        list(passages.values()),
        list(dict.fromkeys(text for side in (people, *kinds.values()) for text in side.texts.values())),
        language=language,
        embedder=None if options.retrievers == "bm25" else _embedder(options.embedding),
        progress=lambda name: print(f"ranked: {name}", file=sys.stderr),
    )
    of_kinds = {kind: shared_words(side, passages, language) for kind, side in kinds.items()}
    return measure(
        list(rankings),
        score(people, rankings),
        {kind: score(side, rankings) for kind, side in kinds.items()},
        Words(shared_words(people, passages, language), of_kinds),
        resamples=options.resamples,
        seed=options.seed,
    )


def _embedder(model: str) -> Embedder:
    def progress(done: int, total: int) -> None:
        print(f"embedded: {done} of {total} texts", file=sys.stderr)

    return Embedder(model, EmbeddingCache(model_identity(model), CACHE / "embeddings"), progress=progress)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.question_worth",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("collection", type=Path, metavar="COLLECTION")
    parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl")
    parser.add_argument("--json", action="store_true", help="an object for each kind, by its name, in place of tables")
    parser.add_argument("--qrels", type=Path, help="people's labels, in BEIR's or TREC's layout")
    parser.add_argument(
        "--leave-out",
        type=lambda text: text.split(","),
        default=[],
        metavar="ID,ID,…",
        help="people's queries that take no part, such as those shown to the writer as examples",
    )
    parser.add_argument(
        "--retrievers", choices=("all", "bm25"), default="all", help="bm25: those of words alone, nothing is embedded"
    )
    parser.add_argument("--embedding", default=OFFLINE_MODEL, help="default: %(default)s")
    parser.add_argument("--language", default="en", help="default: %(default)s")
    parser.add_argument("--resamples", type=int, default=1000, help="draws behind intervals; default: %(default)s")
    parser.add_argument("--seed", type=int, default=7, help="default: %(default)s")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Print the tables, or with --json one object; 2 and one sentence where something given cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        found = measured(options)
        digest = digest_file(options.questions)
    except RagassayError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    if options.json:
        print(json.dumps({kind: one.dump() for kind, one in found.items()}, indent=2, ensure_ascii=False))
    else:
        print("\n".join(lines(found, digest)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
