"""`ragassay judge`: the stage on CORPUS, or evaluators on files of anybody's."""

from __future__ import annotations

import argparse

from ragassay.errors import InputError

from ..options import Verbs, add_experiment, add_json, add_verb, path_of

_ON_FILES = ("answers", "out", "with_")
_ALSO_ON_FILES = (
    "passages",
    "queries",
    "format",
    "config",
    "base_url",
    "mode",
    "work",
    "max_rows",
    "threshold",
    "verdicts",
    "export",
    "kept_replies",
    "json",
)
_WRITTEN = ("out", "verdicts", "export", "kept_replies")
_ON_CORPUS = ("results", "ignore_recorded", "retry_failed")


def add_judge(verbs: Verbs) -> None:
    """The verb and its options: those of a stage, and those for files instead of CORPUS."""
    verb = add_verb(verbs, "judge", "stage: have the judge grade passages, answers and pairs of answers", run_judge)
    verb.set_defaults(stage="judge")
    add_experiment(verb, needs_corpus=False)
    verb.description = "Stage: have the judge grade passages, answers and pairs; or run evaluators on files of yours."
    files = verb.add_argument_group("on files instead of CORPUS")
    files.add_argument(
        "--answers",
        action="append",
        type=path_of,
        metavar="FILE",
        help="answers, an agent a file, in JSON Lines, JSON or CSV of ours or another tool's; may be repeated",
    )
    files.add_argument("--format", metavar="NAME", help="whose columns those are (default: told by them)")
    files.add_argument("--passages", type=path_of, metavar="JSONL", help="what the answers' passages name (BEIR)")
    files.add_argument("--queries", type=path_of, metavar="JSONL", help="BEIR; or give `query` in the answers' lines")
    files.add_argument("--with", dest="with_", metavar="NAME,NAME", help="evaluators: see `ragassay judges`")
    files.add_argument("--out", type=path_of, metavar="JSONL", help="the judgments to write")
    files.add_argument("--config", type=path_of, metavar="TOML", help="an experiment.toml for models and settings")
    files.add_argument("--base-url", metavar="URL", help="the address of --model, if not its provider's")
    files.add_argument("--mode", choices=["auto", "label", "probability"], help="how the model is asked")
    files.add_argument("--max-rows", type=int, metavar="N", help="judge only the first N answers, in the files' order")
    files.add_argument(
        "--threshold",
        action="append",
        default=[],
        metavar="NAME=LABEL",
        help="from which label a criterion is good enough; may be repeated (default: see `ragassay judges`)",
    )
    files.add_argument(
        "--verdicts", type=path_of, metavar="JSONL", help="write pass or fail of each answer, with its root cause"
    )
    files.add_argument(
        "--export", type=path_of, metavar="CSV", help="write a table in the columns of Databricks' Agent Evaluation"
    )
    files.add_argument("--kept-replies", type=path_of, metavar="JSONL", help="write what the model replied")
    add_json(files)
    files.add_argument("--work", type=path_of, metavar="DIR", help="requests and replies (default: OUT.work)")


def run_judge(options: argparse.Namespace) -> int:
    """The stage on CORPUS, or the evaluators that --with names on --answers."""
    if options.corpus is not None:
        if given := _first(options, *_ON_FILES, *_ALSO_ON_FILES):
            raise InputError(f"{given} does not go with CORPUS", remedy="leave one of them out")
        from ..pipeline.runner import run_one

        return run_one(options)
    _check_files(options)
    from ..on_files.judge_files import judge_files

    return judge_files(options)


def _check_files(options: argparse.Namespace) -> None:
    if missing := next((name for name in _ON_FILES if not getattr(options, name)), None):
        raise InputError(f"--{missing.rstrip('_')} is missing", remedy="see `ragassay judge --help`")
    if given := _first(options, *_ON_CORPUS):
        raise InputError(f"{given} goes with CORPUS only", remedy="leave it out")
    if options.base_url and not options.model:
        raise InputError("--base-url is without --model", remedy="name the model that is there")
    if options.mode and not (options.model or options.config):
        raise InputError("--mode is without --model", remedy="name the model that is asked so")
    if options.max_rows is not None and options.max_rows < 1:
        raise InputError(f"--max-rows is {options.max_rows}", remedy="it must be at least 1")
    outputs = [path.resolve() for path in map(vars(options).get, _WRITTEN) if path is not None]
    if len(set(outputs)) < len(outputs):
        raise InputError("two of the files to write are the same", remedy="name another one")
    for given in (*options.answers, options.passages, options.queries, options.config):
        if given is not None and given.resolve() in outputs:
            name = "--out" if given.resolve() == outputs[0] else "a file to write"
            raise InputError(f"{name} is a file that is read", file=given, remedy="name another one")


def _first(options: argparse.Namespace, *names: str) -> str | None:
    """The first of the options that is given, as it is written."""
    given = next((name for name in names if getattr(options, name)), None)
    return given and f"--{given.rstrip('_').replace('_', '-')}"
