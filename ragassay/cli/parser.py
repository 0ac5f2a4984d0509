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
    "evaluate": "have the evaluators of [evaluate] grade passages and answers",
    "compare": "compute every figure: MRR, win rates, Elo, Bradley-Terry, intervals, tests",
    "report": "write report.html",
}

_STATUS = (
    "exit status: 0 done; 1 the test set is smaller than asked for; 2 some input cannot be used (one sentence says "
    "which); 3 replies of a file: model are awaited; 4 the cost limit is reached"
)


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("an empty name")
    return Path(text)


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
        handler = "ragassay.cli.judge_verb:judge" if name == "judge" else "ragassay.cli.stage_verbs:run_one"
        verb = _verb(verbs, name, f"stage: {help_text}", handler)
        verb.set_defaults(stage=name)
        _add_experiment_options(verb, needs_corpus=name != "judge")
        if name == "judge":
            _add_judge_files(verb)
    _verb(verbs, "judges", "list the evaluators that there are", "ragassay.cli.judge_verb:judges")
    _add_replies(verbs)
    _add_label_sheet(verbs)
    _add_model(verbs)
    _add_search(verbs)
    _add_score(verbs)
    _add_rate(verbs)
    _add_export(verbs)
    _add_consistency(verbs)
    _add_plot(verbs)
    _add_gate(verbs)
    _add_agree(verbs)
    _add_agree_systems(verbs)
    _add_meta_eval(verbs)
    return parser


def _verb(verbs, name: str, help_text: str, handler: str) -> argparse.ArgumentParser:  # type: ignore[no-untyped-def]
    sentence = help_text[0].upper() + help_text[1:] + "."
    verb: argparse.ArgumentParser = verbs.add_parser(name, help=help_text, description=sentence, epilog=_STATUS)
    verb.set_defaults(handler=handler)
    return verb


def _add_corpus(verb: argparse.ArgumentParser, *, needed: bool = True) -> None:
    verb.add_argument(
        "corpus",
        type=_path,
        nargs=None if needed else "?",
        metavar="CORPUS",
        help="the folder with the PDFs and experiment.toml",
    )
    verb.add_argument("--results", type=_path, metavar="DIR", help="where to write (default: results/ + CORPUS's name)")


def _add_experiment_options(verb: argparse.ArgumentParser, *, needs_corpus: bool = True) -> None:
    _add_corpus(verb, needed=needs_corpus)
    verb.add_argument("--max-cost", type=float, metavar="USD", help="stop before spending more than this")
    verb.add_argument("--model", metavar="MODEL", help="use this model (provider:name) for everything")
    verb.add_argument("--ignore-recorded", action="store_true", help="ask anew what CORPUS/replies has on record")
    verb.add_argument("--retry-failed", action="store_true", help="ask again where a provider failed last time")


def _add_judge_files(verb: argparse.ArgumentParser) -> None:
    verb.description = "Stage: have the judge grade passages, answers and pairs; or run evaluators on files of yours."
    files = verb.add_argument_group("on files instead of CORPUS")
    files.add_argument(
        "--answers", action="append", type=_path, metavar="JSONL", help="answers, an agent a file; may be repeated"
    )
    files.add_argument("--passages", type=_path, metavar="JSONL", help="what the answers' passages name (BEIR)")
    files.add_argument("--queries", type=_path, metavar="JSONL", help="BEIR; or give `query` in the answers' lines")
    files.add_argument("--with", dest="with_", metavar="NAME,NAME", help="evaluators: see `ragassay judges`")
    files.add_argument("--out", type=_path, metavar="JSONL", help="the judgments to write")
    files.add_argument("--config", type=_path, metavar="TOML", help="an experiment.toml for models and settings")
    files.add_argument("--base-url", metavar="URL", help="the address of --model, if not its provider's")
    files.add_argument("--mode", choices=["auto", "label", "probability"], help="how the model is asked")
    files.add_argument("--work", type=_path, metavar="DIR", help="requests and replies (default: OUT.work)")


def _add_new(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs, "new", "make a corpus folder from PDFs, with a commented experiment.toml", "ragassay.cli.new:new"
    )
    verb.add_argument("corpus", type=_path, metavar="CORPUS", help="the folder to make, such as corpora/mine")
    verb.add_argument("pdfs", type=_path, nargs="*", metavar="PDF", help="documents to copy into it")


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
    verb.add_argument("file", type=_path, metavar="FILE", help="replies, .jsonl or .jsonl.gz")
    _add_corpus(verb)


def _add_label_sheet(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "label-sheet",
        "draw what people should label, blind to agent and judge, or take a filled sheet into labels.csv",
        "ragassay.cli.label_sheet:label_sheet",
    )
    _add_corpus(verb)
    verb.add_argument("--n", type=int, default=100, metavar="N", help="about how many labels; default: 100")
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="of the draw; default: 7")
    verb.add_argument("--out", type=_path, metavar="CSV", help="the sheet (default: in CORPUS)")
    verb.add_argument(
        "--kind",
        action="append",
        choices=["passages", "answers", "games"],
        help="draw only these, may be repeated (passages come by whole queries, which MRR needs); default: all",
    )
    verb.add_argument("--criterion", action="append", metavar="NAME", help="of answers, may be repeated; default: all")
    verb.add_argument("--take", type=_path, metavar="FILE", help="take the labels of a filled sheet into labels.csv")
    verb.add_argument("--who", metavar="NAME", help="with --take: who labelled it")


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
    verb.add_argument("--corpus", type=_path, required=True, metavar="JSONL", help="corpus.jsonl (BEIR)")
    verb.add_argument("--queries", type=_path, required=True, metavar="JSONL", help="queries.jsonl (BEIR)")
    verb.add_argument("--retriever", choices=["bm25", "knn", "hybrid"], default="bm25", help="default: bm25")
    verb.add_argument("--embedding", default="all-MiniLM-L6-v2", metavar="MODEL", help="default: all-MiniLM-L6-v2")
    verb.add_argument("--bm25", choices=["bm25s", "rank-bm25"], default="bm25s", help="default: bm25s")
    verb.add_argument("--language", default="en", help="of stop words and stemming; default: en")
    verb.add_argument("--rrf-k", type=int, default=60, metavar="N", help="of the hybrid's fusion; default: 60")
    verb.add_argument("--k", type=int, default=100, metavar="N", help="passages a query; default: 100")
    verb.add_argument("--cache", type=_path, metavar="DIR", help="keep embeddings here for the next time")
    verb.add_argument("--out", type=_path, required=True, metavar="RUN", help="the TREC run to write")


def _add_score(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(verbs, "score", "score a TREC run against qrels (TREC or BEIR)", "ragassay.cli.on_files:score")
    verb.add_argument("--qrels", type=_path, required=True, metavar="FILE", help="qrels, TREC or BEIR layout")
    verb.add_argument("--run", type=_path, required=True, metavar="FILE", help="a TREC run")
    verb.add_argument(
        "--measure", action="append", required=True, metavar="M", help="nDCG@10, RR(rel=2)@5, R@100, …; may be repeated"
    )
    _add_sections(verb)
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_sections(verb) -> None:  # type: ignore[no-untyped-def]
    verb.add_argument(
        "--sections",
        type=_path,
        metavar="QUERIES",
        help="BEIR's queries.jsonl with metadata.section: queries of one section are taken together in every interval "
        "(default: each stands alone)",
    )


def _add_rate(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(verbs, "rate", "rate agents from a file of pairwise games", "ragassay.cli.on_files:rate")
    verb.add_argument("--games", type=_path, required=True, metavar="JSONL", help="games.jsonl")
    verb.add_argument(
        "--method", choices=["elo", "bradley-terry"], default="bradley-terry", help="default: bradley-terry"
    )
    verb.add_argument(
        "--ties",
        choices=["davidson", "half"],
        default="davidson",
        help="of Bradley-Terry: Davidson's tie parameter, or a tie as half a win for each; default: davidson",
    )
    verb.add_argument("--k-factor", type=float, default=4.0, metavar="K", help="of Elo; default: 4")
    verb.add_argument(
        "--initial", type=float, default=500.0, metavar="R", help="the rating all start from; default: 500"
    )
    verb.add_argument("--tournaments", type=int, default=500, metavar="N", help="of Elo, shuffled; default: 500")
    verb.add_argument("--bootstrap", type=int, default=1000, metavar="N", help="replicates; default: 1000")
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="default: 7")
    _add_sections(verb)
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_export(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs, "export", "write what evaluators gave as CSV, in another tool's columns", "ragassay.cli.export:export"
    )
    _add_corpus(verb)
    verb.add_argument("--format", choices=["agent-evaluation", "open-rag-eval"], required=True, help="whose columns")
    verb.add_argument(
        "--out",
        type=_path,
        required=True,
        metavar="CSV",
        help="the file to write; what a spreadsheet would take for a formula gets an apostrophe before it",
    )
    verb.add_argument(
        "--metrics",
        type=_path,
        metavar="JSON",
        help="write the run's figures too, each with n, n_failed and its interval (agent-evaluation only)",
    )


def _add_consistency(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "consistency",
        "say how far the answers of several runs agree: BERTScore, ROUGE, and the spread of every measure",
        "ragassay.cli.consistency:consistency",
    )
    _add_corpus(verb, needed=False)
    verb.add_argument(
        "--answers", action="append", type=_path, metavar="JSONL", help="instead of CORPUS: answers, a run a file"
    )
    verb.add_argument(
        "--embedding",
        default="all-MiniLM-L6-v2",
        metavar="MODEL",
        help="of BERTScore, with --answers; default: all-MiniLM-L6-v2",
    )
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_plot(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "plot",
        "draw box plots of every measure, of one run or several side by side",
        "ragassay.cli.plot:plot",
    )
    verb.add_argument("figures", type=_path, nargs="+", metavar="RESULTS", help="results.json, or its folder")
    verb.add_argument("--out", type=_path, required=True, metavar="HTML", help="the page to write")
    verb.add_argument("--measure", action="append", metavar="M", help="only these, may be repeated; default: all")


def _add_gate(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "gate",
        "say whether a run is worse than a baseline over the same queries, for CI",
        "ragassay.cli.gate:gate",
    )
    verb.epilog = "exit status: 0 not worse; 1 worse beyond noise and beyond --max-drop; 3 undecided; 2 bad input"
    verb.add_argument("new", type=_path, metavar="NEW", help="the results folder to judge")
    verb.add_argument("--baseline", type=_path, required=True, metavar="OLD", help="the results folder to hold it to")
    verb.add_argument(
        "--measure", action="append", default=[], metavar="M", help="RR(rel=2)@5, accuracy, …; may be repeated"
    )
    verb.add_argument("--agent", action="append", default=[], metavar="NAME", help="default: all that both runs have")
    verb.add_argument(
        "--max-drop",
        type=float,
        default=0.02,
        metavar="SHARE",
        help="tolerated, as a share of a measure's range; default: 0.02",
    )
    verb.add_argument("--markdown", type=_path, metavar="FILE", help="also write the summary here")


def _add_agree(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "agree",
        "say how far judges agree with people: kappa, Krippendorff's alpha, tau-b, precision, recall, …",
        "ragassay.cli.agreement:agree",
    )
    verb.add_argument("--labels", type=_path, metavar="FILE", help="a table of labels: CSV, TSV or JSON Lines")
    verb.add_argument("--human", metavar="COL", help="the column of people's labels")
    verb.add_argument("--judge", action="append", metavar="COL", help="a judge's column; may be repeated")
    verb.add_argument("--by", metavar="COL", help="the column that names the query; default: query_id, if it is there")
    verb.add_argument(
        "--qrels", action="append", type=_path, metavar="FILE", help="instead: people's qrels, then the judge's"
    )
    verb.add_argument("--relevant", metavar="LABEL", help="the lowest label that counts as relevant")
    verb.add_argument("--scale", metavar="L,L,…", help="the labels in order, where they are words or some never occur")
    verb.add_argument("--plot", type=_path, metavar="HTML", help="write the Bland-Altman plot here")
    _add_draws(verb)


def _add_agree_systems(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "agree-systems",
        "say whether two sets of labels put systems in the same order: tau-b and Spearman's rho",
        "ragassay.cli.agreement:agree_systems",
    )
    verb.add_argument("--qrels", action="append", type=_path, metavar="FILE", help="qrels, TREC or BEIR; given twice")
    verb.add_argument("--runs", type=_path, metavar="DIR", help="a folder of TREC runs, one a system")
    verb.add_argument("--measure", metavar="M", help="nDCG@10, RR(rel=2)@5, …")
    verb.add_argument("--scores", type=_path, metavar="FILE", help="instead: a table of system, score, score")
    _add_draws(verb)


def _add_meta_eval(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = _verb(
        verbs,
        "meta-eval",
        "hold an evaluator against a labelled set: precision, recall, F1, kappa, off-by-one accuracy, …",
        "ragassay.cli.meta_eval:meta_eval",
    )
    verb.add_argument("--judge", required=True, metavar="NAME", help="an evaluator: see `ragassay judges`")
    verb.add_argument(
        "--labelled",
        type=_path,
        required=True,
        metavar="FILE",
        help="rows (JSON Lines, CSV, TSV) of claim, document, label; of question, answer, expected, label; or of "
        "question, answer; or qrels (TREC, BEIR) with --passages and --queries",
    )
    verb.add_argument(
        "--kind", choices=["relevance", "claims", "answers", "correctness"], help="default: by the fields"
    )
    verb.add_argument("--passages", type=_path, metavar="JSONL", help="what the qrels label (BEIR)")
    verb.add_argument("--queries", type=_path, metavar="JSONL", help="what they label it for (BEIR)")
    verb.add_argument(
        "--negatives", type=_path, metavar="RUN", help="a TREC run: its first passages without a label count as 0"
    )
    verb.add_argument("--depth", type=int, default=10, metavar="K", help="how many of --negatives' first; default: 10")
    verb.add_argument(
        "--relevant",
        action="append",
        default=[],
        metavar="LABEL",
        help="people's label that counts: the lowest number, or a word (may be repeated)",
    )
    verb.add_argument(
        "--binary-at",
        type=float,
        metavar="X",
        help="the judge's lowest label that counts; default: 2 of 0 to 3, else the middle of the scale",
    )
    verb.add_argument("--criterion", metavar="NAME", help="which figure of a judge that gives several")
    verb.add_argument("--n", type=int, metavar="N", help="rows drawn at random; default: all")
    verb.add_argument("--balance", action="store_true", help="draw half of them from the labels that count")
    verb.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the judge, as in [evaluate.settings]; may be repeated",
    )
    verb.add_argument("--model", metavar="MODEL", help="provider:name")
    verb.add_argument("--base-url", metavar="URL", help="the address of --model, if not its provider's")
    verb.add_argument("--mode", choices=["auto", "label", "probability"], help="how the model is asked")
    verb.add_argument(
        "--config", type=_path, metavar="TOML", help="an experiment.toml for models, settings, own judges"
    )
    verb.add_argument("--max-cost", type=float, metavar="USD", help="stop before spending more than this")
    verb.add_argument("--out", type=_path, metavar="JSONL", help="the judgments to write")
    verb.add_argument("--work", type=_path, metavar="DIR", help="requests and replies (default: results/meta-eval)")
    _add_draws(verb)


def _add_draws(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--bootstrap", type=int, default=1000, metavar="N", help="replicates; default: 1000")
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="default: 7")
    verb.add_argument("--json", action="store_true", help="print JSON")
