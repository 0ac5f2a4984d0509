"""The verbs, their options and their help. Nothing is imported here but argparse."""

from __future__ import annotations

import argparse

from .options import STATUS, add_corpus, add_verb, path_of
from .verbs_on_files import add_verbs_on_files

_STAGES = {
    "ingest": "read the PDFs of CORPUS into pages, sections and passages",
    "questions": "have models write questions about sections, and sample the test set from them",
    "retrieve": "rank the passages for every query by every agent",
    "answer": "have every agent answer every query",
    "judge": "have the judge grade passages, answers and pairs of answers",
    "evaluate": "have the evaluators of [evaluate] grade passages and answers",
    "compare": "compute every figure: MRR, win rates, Elo, Bradley-Terry, intervals, tests",
    "report": "write report.html",
}


def build_parser(version: str) -> argparse.ArgumentParser:
    """The whole command line; each verb's namespace carries `handler`, "module:function"."""
    parser = argparse.ArgumentParser(
        prog="ragassay",
        description="Make a test set from PDFs, run retrieval-augmented pipelines on it, and say which answers best.",
        epilog=STATUS,
    )
    parser.add_argument("--version", action="version", version=f"ragassay {version}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    _add_new(verbs)
    _add_run(verbs)
    _add_plan(verbs)
    for name, help_text in _STAGES.items():
        handler = "ragassay.cli.verbs.judge:judge" if name == "judge" else "ragassay.cli.pipeline.runner:run_one"
        verb = add_verb(verbs, name, f"stage: {help_text}", handler)
        verb.set_defaults(stage=name)
        _add_experiment_options(verb, needs_corpus=name != "judge")
        if name == "judge":
            _add_judge_files(verb)
    add_verb(verbs, "judges", "list the evaluators that there are", "ragassay.cli.verbs.judge:judges")
    _add_replies(verbs)
    _add_label_sheet(verbs)
    _add_model(verbs)
    add_verbs_on_files(verbs)
    _add_export(verbs)
    return parser


def _add_experiment_options(verb: argparse.ArgumentParser, *, needs_corpus: bool = True) -> None:
    add_corpus(verb, needed=needs_corpus)
    verb.add_argument("--max-cost", type=float, metavar="USD", help="stop before spending more than this")
    verb.add_argument("--model", metavar="MODEL", help="use this model (provider:name) for everything")
    verb.add_argument("--ignore-recorded", action="store_true", help="ask anew what CORPUS/replies has on record")
    verb.add_argument("--retry-failed", action="store_true", help="ask again where a provider failed last time")


def _add_judge_files(verb: argparse.ArgumentParser) -> None:
    verb.description = "Stage: have the judge grade passages, answers and pairs; or run evaluators on files of yours."
    files = verb.add_argument_group("on files instead of CORPUS")
    files.add_argument(
        "--answers", action="append", type=path_of, metavar="JSONL", help="answers, an agent a file; may be repeated"
    )
    files.add_argument("--passages", type=path_of, metavar="JSONL", help="what the answers' passages name (BEIR)")
    files.add_argument("--queries", type=path_of, metavar="JSONL", help="BEIR; or give `query` in the answers' lines")
    files.add_argument("--with", dest="with_", metavar="NAME,NAME", help="evaluators: see `ragassay judges`")
    files.add_argument("--out", type=path_of, metavar="JSONL", help="the judgments to write")
    files.add_argument("--config", type=path_of, metavar="TOML", help="an experiment.toml for models and settings")
    files.add_argument("--base-url", metavar="URL", help="the address of --model, if not its provider's")
    files.add_argument("--mode", choices=["auto", "label", "probability"], help="how the model is asked")
    files.add_argument("--work", type=path_of, metavar="DIR", help="requests and replies (default: OUT.work)")


def _add_new(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs, "new", "make a corpus folder from PDFs, with a commented experiment.toml", "ragassay.cli.verbs.new:new"
    )
    verb.add_argument("corpus", type=path_of, metavar="CORPUS", help="the folder to make, such as corpora/mine")
    verb.add_argument("pdfs", type=path_of, nargs="*", metavar="PDF", help="documents to copy into it")


def _add_run(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "run",
        "run every stage whose inputs or settings changed, and print the ranked table",
        "ragassay.cli.pipeline.runner:run_all",
    )
    _add_experiment_options(verb)


def _add_plan(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "plan",
        "say how many calls, tokens and dollars each stage and model will take, before anything is paid",
        "ragassay.cli.verbs.plan:plan",
    )
    _add_experiment_options(verb)
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_replies(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "replies",
        "take in replies to a file: model's requests (OpenAI's Batch output)",
        "ragassay.cli.verbs.replies:take",
    )
    verb.add_argument("file", type=path_of, metavar="FILE", help="replies, .jsonl or .jsonl.gz")
    add_corpus(verb)


def _add_label_sheet(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "label-sheet",
        "draw what people should label, blind to agent and judge, or take a filled sheet into labels.csv",
        "ragassay.cli.verbs.label_sheet:label_sheet",
    )
    add_corpus(verb)
    verb.add_argument("--n", type=int, default=100, metavar="N", help="about how many labels; default: 100")
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="of the draw; default: 7")
    verb.add_argument("--out", type=path_of, metavar="CSV", help="the sheet (default: in CORPUS)")
    verb.add_argument(
        "--kind",
        action="append",
        choices=["passages", "answers", "games"],
        help="draw only these, may be repeated (passages come by whole queries, which MRR needs); default: all",
    )
    verb.add_argument("--criterion", action="append", metavar="NAME", help="of answers, may be repeated; default: all")
    verb.add_argument("--take", type=path_of, metavar="FILE", help="take the labels of a filled sheet into labels.csv")
    verb.add_argument("--who", metavar="NAME", help="with --take: who labelled it")


def _add_model(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "model",
        "fetch a local model: `ragassay model fetch local:hf:OWNER/REPO/FILE.gguf`",
        "ragassay.cli.verbs.model:model",
    )
    verb.add_argument("action", choices=["fetch"], help="fetch: download it, resumably, and keep its sha256 on record")
    verb.add_argument("name", metavar="MODEL", help="local:hf:OWNER/REPO/FILE.gguf")


def _add_export(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(
        verbs,
        "export",
        "write what evaluators gave as CSV, in another tool's columns",
        "ragassay.cli.verbs.export:export",
    )
    add_corpus(verb)
    verb.add_argument("--format", choices=["agent-evaluation", "open-rag-eval"], required=True, help="whose columns")
    verb.add_argument(
        "--out",
        type=path_of,
        required=True,
        metavar="CSV",
        help="the file to write; what a spreadsheet would take for a formula gets an apostrophe before it",
    )
    verb.add_argument(
        "--metrics",
        type=path_of,
        metavar="JSON",
        help="write the run's figures too, each with n, n_failed and its interval (agent-evaluation only)",
    )
