"""The verbs, their options and their help. Nothing is imported here but argparse."""

from __future__ import annotations

import argparse
from pathlib import Path

_STAGES = {
    "ingest": "read the PDFs of CORPUS into pages, sections and passages",
    "questions": "have models write questions about sections, and sample the test set from them",
    "retrieve": "rank the passages for every query by every agent",
    "answer": "have every agent answer every query",
    "judge": "have the judge grade passages, answers and pairs of answers",
    "compare": "compute every figure: MRR, win rates, Elo, Bradley-Terry, intervals, tests",
    "report": "write report.html",
}

_STATUS = (
    "exit status: 0 done; 1 the test set is smaller than asked for; 2 some input cannot be used (one sentence says "
    "which); 3 replies of a file: model are awaited; 4 the cost limit is reached"
)


def build_parser(version: str) -> argparse.ArgumentParser:
    """The whole command line; each verb's namespace carries `handler`, "module:function"."""
    parser = argparse.ArgumentParser(
        prog="ragassay",
        description="Make a test set from PDFs, run retrieval-augmented pipelines on it, and say which answers best.",
        epilog=_STATUS,
    )
    parser.add_argument("--version", action="version", version=f"ragassay {version}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    _add_new(verbs)
    _add_run(verbs)
    _add_plan(verbs)
    for name, help_text in _STAGES.items():
        verb = _verb(verbs, name, f"stage: {help_text}", "ragassay.cli.stage_verbs:run_one")
        verb.set_defaults(stage=name)
        _add_experiment_options(verb)
    _add_replies(verbs)
    _add_model(verbs)
    _add_search(verbs)
    _add_score(verbs)
    _add_rate(verbs)
    return parser


def _verb(verbs, name: str, help_text: str, handler: str) -> argparse.ArgumentParser:  # type: ignore[no-untyped-def]
    sentence = help_text[0].upper() + help_text[1:] + "."
    verb: argparse.ArgumentParser = verbs.add_parser(name, help=help_text, description=sentence, epilog=_STATUS)
    verb.set_defaults(handler=handler)
    return verb


def _add_corpus(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("corpus", type=Path, metavar="CORPUS", help="the folder with the PDFs and experiment.toml")
    verb.add_argument("--results", type=Path, metavar="DIR", help="where to write (default: results/ + CORPUS's name)")


def _add_experiment_options(verb: argparse.ArgumentParser) -> None:
    _add_corpus(verb)
    verb.add_argument("--max-cost", type=float, metavar="USD", help="stop before spending more than this")
    verb.add_argument("--model", metavar="MODEL", help="use this model (provider:name) for everything")
    verb.add_argument("--ignore-recorded", action="store_true", help="ask anew what CORPUS/replies has on record")
    verb.add_argument("--retry-failed", action="store_true", help="ask again where a provider failed last time")


def _add_new(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs, "new", "make a corpus folder from PDFs, with a commented experiment.toml", "ragassay.cli.new:new"
    )
    verb.add_argument("corpus", type=Path, metavar="CORPUS", help="the folder to make, such as corpora/mine")
    verb.add_argument("pdfs", type=Path, nargs="*", metavar="PDF", help="documents to copy into it")


def _add_run(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "run",
        "run every stage whose inputs or settings changed, and print the ranked table",
        "ragassay.cli.stage_verbs:run_all",
    )
    _add_experiment_options(verb)


def _add_plan(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "plan",
        "say how many calls, tokens and dollars each stage and model will take, before anything is paid",
        "ragassay.cli.plan:plan",
    )
    _add_experiment_options(verb)
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_replies(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "replies",
        "take in replies to a file: model's requests (OpenAI's Batch output)",
        "ragassay.cli.replies:take",
    )
    verb.add_argument("file", type=Path, metavar="FILE", help="replies, .jsonl or .jsonl.gz")
    _add_corpus(verb)


def _add_model(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "model",
        "fetch a local model: `ragassay model fetch local:hf:OWNER/REPO/FILE.gguf`",
        "ragassay.cli.model:model",
    )
    verb.add_argument("action", choices=["fetch"], help="fetch: download it, resumably, and keep its sha256 on record")
    verb.add_argument("name", metavar="MODEL", help="local:hf:OWNER/REPO/FILE.gguf")


def _add_search(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "search",
        "rank the passages of any BEIR folder for its queries, into a TREC run",
        "ragassay.cli.on_files:search",
    )
    verb.add_argument("--corpus", type=Path, required=True, metavar="JSONL", help="corpus.jsonl (BEIR)")
    verb.add_argument("--queries", type=Path, required=True, metavar="JSONL", help="queries.jsonl (BEIR)")
    verb.add_argument("--retriever", choices=["bm25", "knn", "hybrid"], default="bm25", help="default: bm25")
    verb.add_argument("--embedding", default="all-MiniLM-L6-v2", metavar="MODEL", help="default: all-MiniLM-L6-v2")
    verb.add_argument("--bm25", choices=["bm25s", "rank-bm25"], default="bm25s", help="default: bm25s")
    verb.add_argument("--language", default="en", help="of stop words and stemming; default: en")
    verb.add_argument("--rrf-k", type=int, default=60, metavar="N", help="of the hybrid's fusion; default: 60")
    verb.add_argument("--k", type=int, default=100, metavar="N", help="passages a query; default: 100")
    verb.add_argument("--cache", type=Path, metavar="DIR", help="keep embeddings here for the next time")
    verb.add_argument("--out", type=Path, required=True, metavar="RUN", help="the TREC run to write")


def _add_score(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(verbs, "score", "score a TREC run against qrels (TREC or BEIR)", "ragassay.cli.on_files:score")
    verb.add_argument("--qrels", type=Path, required=True, metavar="FILE", help="qrels, TREC or BEIR layout")
    verb.add_argument("--run", type=Path, required=True, metavar="FILE", help="a TREC run")
    verb.add_argument(
        "--measure", action="append", required=True, metavar="M", help="nDCG@10, RR(rel=2)@5, R@100, …; may be repeated"
    )
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_rate(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(verbs, "rate", "rate agents from a file of pairwise games", "ragassay.cli.on_files:rate")
    verb.add_argument("--games", type=Path, required=True, metavar="JSONL", help="games.jsonl")
    verb.add_argument(
        "--method", choices=["elo", "bradley-terry"], default="bradley-terry", help="default: bradley-terry"
    )
    verb.add_argument("--k-factor", type=float, default=4.0, metavar="K", help="of Elo; default: 4")
    verb.add_argument(
        "--initial", type=float, default=500.0, metavar="R", help="the rating all start from; default: 500"
    )
    verb.add_argument("--tournaments", type=int, default=500, metavar="N", help="of Elo, shuffled; default: 500")
    verb.add_argument("--bootstrap", type=int, default=1000, metavar="N", help="replicates; default: 1000")
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="default: 7")
    verb.add_argument("--json", action="store_true", help="print JSON")
