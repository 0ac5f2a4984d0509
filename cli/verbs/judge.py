"""`ragassay judge`, the stage on CORPUS or evaluators on files of anybody's; and `judges`, which lists these."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any

from pydantic import ValidationError

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.errors import InputError
from ragassay.evaluate.figures.evaluator_values import classification_figures, means
from ragassay.evaluate.figures.pass_or_fail import judged_by
from ragassay.evaluate.from_files.answers import AnswerVerdict, Judged, clusters_of, read_cases
from ragassay.evaluate.from_files.exports import table_of
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.judging.catalog import (
    Listed,
    asks_of,
    brought_judges,
    built_in,
    coverage,
    experiment_evaluators,
    families,
    listed_judges,
    markdown_coverage,
    markdown_list,
    scale_of,
)
from ragassay.evaluate.judging.engine.cases import Setup
from ragassay.evaluate.judging.engine.evaluator import NIST, Evaluator
from ragassay.evaluate.judging.engine.rounds import assess, units
from ragassay.evaluate.judging.panel import by_criterion, failures, passed_over
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.settings import Experiment
from ragassay.experiment.tables import NO_MODEL, ModelSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import write_records, write_text
from ragassay.progress import StderrProgress
from ragassay.records import Assessment, KeptReplies
from ragassay.text import plain

from ..pipeline.opening import locked
from ..terminal import STAGE, add, add_shared, path_of, print_json, print_rows, print_table, shown_figure, value_of
from .import_export import as_csv


def files_workspace(options: argparse.Namespace) -> Workspace:
    """An experiment of evaluators only: --config's, with what the options say.

    Of its settings and thresholds are left out those that only evaluators which are not named have.
    """
    base = _experiment(options)
    names = tuple(name.strip() for name in options.with_.split(",") if name.strip())
    custom = tuple(one for one in base.evaluate.custom if one.name in names)
    wanted = {name for given in names for name in families().get(given, (given,))}
    parts = {part.name for name in wanted if name in built_in() for part in built_in()[name].made_of}
    settings = {n: t for n, t in base.evaluate.settings.items() if n in wanted | parts or ":" in options.with_}
    others = [kind for name, kind in built_in().items() if name not in wanted] if base.evaluate.thresholds else []
    made = [kind(Setup("openai:none")) for kind in others]
    elsewhere = {one.name for one in made} | {criterion.name for one in made for criterion in one.criteria}
    elsewhere |= {one.name for one in base.evaluate.custom if one.name not in names}
    thresholds = {name: label for name, label in base.evaluate.thresholds.items() if name not in elsewhere}
    thresholds |= thresholds_given(getattr(options, "threshold", []))
    evaluate = base.evaluate.model_copy(
        update={"judges": names, "custom": custom, "settings": settings, "thresholds": thresholds}
        | {name: given for name in ("mode", "model", "prompts") if (given := getattr(options, name, None))}
    )
    folder = Path() if options.config is None else options.config.parent
    if options.max_cost is not None and not options.max_cost > 0:
        raise InputError(f"--max-cost is {options.max_cost:g}", remedy="it must be more than 0")
    run = base.run.model_copy(update={"max_cost_usd": options.max_cost}) if options.max_cost else base.run
    work = options.work or options.out.with_name(f"{options.out.name}.work")
    return Workspace(folder, work, base.model_copy(update={"evaluate": evaluate, "run": run}))


def with_settings(workspace: Workspace, given: Mapping[str, Mapping[str, Any]]) -> Workspace:
    """With these options of evaluators, by their names, besides those that `[evaluate.settings]` has."""
    evaluate = workspace.experiment.evaluate
    settings = {name: {**evaluate.settings.get(name, {}), **table} for name, table in given.items()}
    evaluate = evaluate.model_copy(update={"settings": {**evaluate.settings, **settings}})
    return replace(workspace, experiment=workspace.experiment.model_copy(update={"evaluate": evaluate}))


def files_evaluators(workspace: Workspace, options: argparse.Namespace) -> list[Evaluator]:
    """The evaluators of `files_workspace`.

    Raises InputError, said of the options where there is no --config, and where one asks a judge that nobody names.
    """
    try:
        made = experiment_evaluators(workspace)
    except InputError as error:
        if options.config is not None or error.file != workspace.corpus / "experiment.toml":
            raise
        problem = error.problem.replace("[evaluate.thresholds]", "--threshold").replace("in evaluate.judges ", "named ")
        raise InputError(problem, remedy=error.remedy) from None
    if workspace.experiment.evaluating_model == NO_MODEL and any(one.asking == "judge" for one in made):
        raise InputError("--model is missing", remedy="name the judge, such as openai:gpt-4o, or give --config")
    return made


def thresholds_given(texts: Sequence[str]) -> dict[str, float]:
    """Of --threshold. Raises InputError for what is not NAME=LABEL."""
    found = {}
    for text in texts:
        name, sign, label = text.partition("=")
        try:
            found[name] = float(label)
        except ValueError:
            sign = ""
        if not (sign and name):
            raise InputError(f"--threshold is '{plain(text)}'", remedy="write NAME=LABEL, such as groundedness=2")
    return found


def _experiment(options: argparse.Namespace) -> Experiment:
    """--config's, or one that has nothing but --model or none; --base-url is the address of --model in either."""
    try:
        if options.config is not None:
            base = load_experiment(options.config)
        else:
            model = {"model": options.model or NO_MODEL}
            base = Experiment.model_validate({"questions": {"source": "own"}, "answer": model, "judge": model})
        if options.model is None or not options.base_url:
            return base
        given = base.settings_of(options.model).model_dump() | {"base_url": options.base_url}
        models = {**base.models, options.model: ModelSettings.model_validate(given)}
        return base.model_copy(update={"models": models})
    except ValidationError as error:
        problem = str(error.errors(include_url=False)[0]["msg"]).removeprefix("Value error, ")
        raise InputError(plain(problem), remedy="see --model and --base-url") from None


def _as_json(found: Judged, verdicts: Sequence[AnswerVerdict], clusters: Clusters) -> dict[str, Any]:
    """Means, thresholds, shares, root causes, problems and insights."""
    problems, insights = found.told()
    named: dict[str, dict[str, Any]] = {}
    for criterion, subject, figure in means(found.rows, found.evaluators, clusters):
        named.setdefault(subject, {})[criterion] = figure.dump()
    shares = found.shares()
    return {
        "means": named,
        "thresholds": found.thresholds,
        "threshold_shares": {a: {name: one.dump() for name, one in row.items()} for a, row in shares.items()},
        "root_causes": _root_causes(verdicts),
        "problems": [one.dump() for one in problems],
        "insights": [one.dump() for one in insights],
        **({"perturbed": found.perturbed.dump()} if found.perturbed else {}),
    }


def _print_means(rows: Sequence[Assessment], evaluators: Sequence[Evaluator], clusters: Clusters) -> None:
    """The mean of each criterion for each agent, or over all passages, with its interval over queries."""
    lower = {c.name for one in evaluators for c in one.criteria if c.lower_is_better}
    shown = [
        (f"{criterion} (lower is better)" if criterion in lower else criterion, subject, *shown_figure(figure, ".3f"))
        for criterion, subject, figure in means(rows, evaluators, clusters)
    ]
    header = ("criterion", "of", "mean", "95% interval", "n", "failed")
    print_rows(header, shown, "no criterion has a mean: nothing was judged")


def _print_shares(found: Judged) -> None:
    """Of each criterion and agent the shares that pass and fail, by what they fail of."""
    rows = []
    for agent, named in found.shares().items():
        for name, one in named.items():
            shares = (one.failed, one.retrieval_failures, one.generation_failures, one.unexplained_failures)
            *failed, unread = (value_of(share, ".1%") for share in (*shares, one.parse_failures))
            passed, interval, n, n_failed = shown_figure(one.passed, ".1%")
            rows.append([name, agent, f"{found.thresholds[name]:g}", passed, interval, *failed, n, n_failed, unread])
    heads = ("passed", "95% interval", "failed", "of retrieval", "of generation", "unexplained", "n", "not judged")
    print_rows(("criterion", "of", "threshold", *heads, "reply not read"), rows, without_rows="")


def _print_told(found: Judged, verdicts: Sequence[AnswerVerdict]) -> None:
    """Pass or fail of whole answers with root causes, then problems and insights."""
    for agent, counts in _root_causes(verdicts).items():
        said = ", ".join(f"{plain(name)} {number}" for name, number in counts["root_causes"].items())
        line = f"{plain(agent)}: {counts['pass']} pass, {counts['fail']} fail, {counts['undecided']} undecided"
        print(f"{line}; root causes: {said}" if said else line)
    problems, insights = found.told()
    for title, told in (("problems", problems), ("insights", insights)):
        if told:
            print(f"{title}:")
        for one in told:
            print(plain(f"- {one.sentence}"))


def _root_causes(verdicts: Sequence[AnswerVerdict]) -> dict[str, dict[str, Any]]:
    """Agent to how many answers pass, fail and are undecided, and root cause to how many fail of it."""
    made: dict[str, dict[str, Any]] = {}
    for agent in dict.fromkeys(row.agent for row in verdicts):
        mine = [row for row in verdicts if row.agent == agent]
        counts = Counter(row.verdict for row in mine)
        causes = Counter(row.root_cause for row in mine if row.root_cause is not None)
        made[agent] = {
            **{verdict: counts[verdict] for verdict in ("pass", "fail", "undecided")},
            "root_causes": dict(sorted(causes.items(), key=lambda item: (-item[1], item[0]))),
        }
    return made


def _print_classes(rows: Sequence[Assessment], clusters: Clusters) -> None:
    """Accuracy, precision, recall and F1 of each agent and class, where answers were judged as classes."""
    found = classification_figures(rows, resamples([row.query_id for row in rows], 1, 0, clusters))
    shown = [
        (name, agent, *shown_figure(figure, ".3f"))
        for agent, figures in found.items()
        for name, figure in figures.items()
    ]
    print_rows(("classification", "of", "value", "95% interval", "n", "failed"), shown, without_rows="")


_ON_FILES = ("answers", "out", "with_")
_ALSO_ON_FILES = ("passages", "queries", "format", "config", "base_url", "mode", "work", "max_rows", "threshold")
_ALSO_WRITTEN = ("verdicts", "export", "kept_replies")
_ON_CORPUS = ("results", "ignore_recorded", "retry_failed")


def add_judge(verb: argparse.ArgumentParser) -> None:
    """The verb and its options: those of a stage, and those for files instead of CORPUS."""
    add_shared(verb, "[CORPUS]", "--results", *STAGE)
    verb.description = "Stage: have the judge grade passages, answers and pairs; or run evaluators on files of yours."
    files = verb.add_argument_group("on files instead of CORPUS")
    add(
        files,
        "--answers FILE",
        "answers, an agent a file, in JSON Lines, JSON or CSV of ours or another tool's; may be repeated",
        action="append",
        type=path_of,
    )
    add(files, "--format NAME", "whose columns those are (default: told by them)")
    add(files, "--passages JSONL", "what the answers' passages name (BEIR)", type=path_of)
    add(files, "--queries JSONL", "BEIR; or give `query` in the answers' lines", type=path_of)
    add(files, "--with NAME,NAME", "evaluators: see `ragassay judge --list`", dest="with_")
    add(files, "--out JSONL", "the judgments to write", type=path_of)
    add(files, "--config TOML", "an experiment.toml for models and settings", type=path_of)
    add_shared(files, "--base-url", "--mode")
    add(files, "--max-rows N", "judge only the first N answers, in the files' order", type=int)
    add(
        files,
        "--threshold NAME=LABEL",
        "from which label a criterion is good enough; may be repeated (default: see `ragassay judge --list`)",
        action="append",
        default=[],
    )
    add(files, "--verdicts JSONL", "write pass or fail of each answer, with its root cause", type=path_of)
    add(files, "--export CSV", "write a table in the columns of Databricks' Agent Evaluation", type=path_of)
    add(files, "--kept-replies JSONL", "write what the model replied", type=path_of)
    add_shared(files, "--json")
    add(files, "--work DIR", "requests and replies (default: OUT.work)", type=path_of)


def run_judge(options: argparse.Namespace) -> int:
    """The stage on CORPUS, or the evaluators that --with names on --answers: write --out and what else is asked for,
    and print the figures of each criterion, or JSON."""
    if options.corpus is not None:
        if wrong := _first(options, *_ON_FILES, *_ALSO_ON_FILES, *_ALSO_WRITTEN, "json"):
            raise InputError(f"{wrong} does not go with CORPUS", remedy="leave one of them out")
        from ..pipeline.runner import run_one

        return run_one(options)
    _check_files(options)
    workspace = files_workspace(options)
    evaluators = files_evaluators(workspace, options)
    most = options.max_rows if options.max_rows is not None else workspace.experiment.evaluate.max_rows
    given = read_cases(options.answers, options.passages, options.queries, most, options.format)
    if options.export:
        judged_by(evaluators, None)
    cases, of_passages = given.cases, [one.name for one in evaluators if one.unit == "passage"]
    if of_passages and options.passages is None and not given.with_texts:
        raise InputError("--passages is missing", remedy=f"{plain(of_passages[0])} judges passages: give their texts")
    kept: list[KeptReplies] | None = [] if options.kept_replies else None
    for evaluator in evaluators:
        if units(evaluator, cases):
            evaluator.check_at_hand()
    with locked(workspace):
        with closing(Caller(workspace, "judge", ReplyCache(workspace.replies), StderrProgress())) as caller:
            rows = assess(evaluators, cases, caller, kept)
        found = Judged(evaluators, rows, cases, workspace.experiment.evaluate.thresholds)
        verdicts = found.verdicts()
        write_records(options.out, rows)
        if options.verdicts:
            write_records(options.verdicts, verdicts)
        if options.export:
            write_text(options.export, as_csv(*table_of(found.as_agent_evaluation())))
        if kept is not None:
            write_records(options.kept_replies, kept)
    limit = [f"only the first {len(found.answers)} answers are judged (--max-rows)"] if most is not None else []
    for notice in [*given.notices, *limit, *passed_over(evaluators, cases), *failures(by_criterion(rows))]:
        print(f"note: {plain(notice)}", file=sys.stderr)
    clusters = clusters_of([case.query for case in cases])
    if options.json:
        print_json(_as_json(found, verdicts, clusters))
        return 0
    _print_means(rows, evaluators, clusters)
    _print_shares(found)
    _print_told(found, verdicts)
    _print_classes(rows, clusters)
    print(f"{options.out}: {len(rows)} judgments")
    return 0


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
    outputs = [path.resolve() for path in map(vars(options).get, ("out", *_ALSO_WRITTEN)) if path is not None]
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


def add_judges(verb: argparse.ArgumentParser) -> None:
    add_shared(verb, "--json")
    add(verb, "--tags", "print which bear on what of NIST AI RMF and SR 11-7 instead", action="store_true")
    add(verb, "--markdown", "print the table of docs/evaluators.md instead", action="store_true")


def run_judges(options: argparse.Namespace) -> int:
    """Print every evaluator by family: what it judges and reads, its scales, whom it asks, its source."""
    judges = listed_judges()
    if not options.markdown:
        judges += brought_judges(Path("judges"))
    if options.markdown:
        print(markdown_coverage(judges) if options.tags else markdown_list(judges), end="")
    elif options.json:
        print_json(coverage(judges) if options.tags else [one.dump() for one in judges])
    elif options.tags:
        for framework, of_nist in (("NIST AI RMF", True), ("SR 11-7", False)):
            found = {tag: names for tag, names in coverage(judges).items() if (tag in NIST) is of_nist}
            rows = [(tag, str(len(names)), ", ".join(names) or "none") for tag, names in found.items()]
            print_table(framework, ("tag", "judges", ""), rows)
    else:
        _print_list(judges)
    return 0


def _print_list(judges: list[Listed]) -> None:
    for family, some in groupby(judges, lambda one: one.family):
        print(family)
        for one in some:
            needs = f", needs {', '.join(one.needs)}" if one.needs else ""
            scale = f"{one.criteria[0].lowest:g} and up" if one.criteria[0].highest is None else ""
            scale = scale or f"{one.criteria[0].lowest:g} to {one.criteria[0].highest:g}"
            print(f"  {one.name}: of each {one.of}, {scale}{needs}")
            lines = [one.about] if one.about else []
            scales = dict.fromkeys(scale_of(criterion) for criterion in one.criteria)
            if len(one.criteria) > 1:
                lines.append(f"gives {', '.join(criterion.name for criterion in one.criteria)}")
            lines.append("; ".join(scales))
            lines.append(f"reads {', '.join(one.reads) or 'what it says'}; asks {asks_of(one)}")
            lines += [f"source: {one.source}"] if one.source else []
            for line in lines:
                print(fill(line, 88, initial_indent="    ", subsequent_indent="    "))
