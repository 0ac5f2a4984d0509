"""`ragassay judge` on files of anybody's: answers, with their passages and queries, and the evaluators named."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.errors import InputError
from ragassay.evaluate.figures.agent_evaluation_rows import judged_by
from ragassay.evaluate.figures.classes import classification_figures
from ragassay.evaluate.figures.evaluator_means import means
from ragassay.evaluate.from_files.answers import read_cases
from ragassay.evaluate.from_files.export_agent_evaluation import table_of
from ragassay.evaluate.from_files.good_enough import AnswerVerdict, Judged, clusters_of
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.evaluate.judging.engine.rounds import assess, units
from ragassay.evaluate.judging.notices import by_criterion, failures, passed_over
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.files import write_records, write_text
from ragassay.progress import StderrProgress
from ragassay.records import Assessment, Figure, KeptReplies
from ragassay.text import plain

from ..pipeline.opening import locked
from ..printing import interval_of, print_json, print_whole, value_of
from ..verbs.export import as_csv
from .evaluators import files_evaluators, files_workspace


def judge_files(options: argparse.Namespace) -> int:
    """Write --out and what else is asked for, and print the figures of each criterion, or JSON."""
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
        caller = Caller(workspace, "judge", ReplyCache(workspace.replies), StderrProgress())
        try:
            rows = assess(evaluators, cases, caller, kept)
        finally:
            caller.close()
        found = Judged(evaluators, rows, cases, workspace.experiment.evaluate.thresholds)
        verdicts = found.verdicts()
        _write(options, rows, found, verdicts, kept)
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


def _write(
    options: argparse.Namespace,
    rows: Sequence[Assessment],
    found: Judged,
    verdicts: Sequence[AnswerVerdict],
    kept: Sequence[KeptReplies] | None,
) -> None:
    write_records(options.out, rows)
    if options.verdicts:
        write_records(options.verdicts, verdicts)
    if options.export:
        write_text(options.export, as_csv(*table_of(found.as_agent_evaluation())))
    if kept is not None:
        write_records(options.kept_replies, kept)


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
    from rich.table import Table
    from rich.text import Text

    lower = {c.name for one in evaluators for c in one.criteria if c.lower_is_better}
    table = Table("criterion", "of", "mean", "95% interval", "n", "failed")
    for criterion, subject, figure in means(rows, evaluators, clusters):
        shown = value_of(figure, ".3f"), interval_of(figure, ".3f"), str(figure.n), str(figure.n_failed)
        name = f"{criterion} (lower is better)" if criterion in lower else criterion
        table.add_row(name, Text(plain(subject)), *shown)
    print_whole(table, "no criterion has a mean: nothing was judged")


def _print_shares(found: Judged) -> None:
    """Of each criterion and agent the shares that pass and fail, by what they fail of."""
    from rich.table import Table
    from rich.text import Text

    rows = [(name, agent, one) for agent, named in found.shares().items() for name, one in named.items()]
    if not rows:
        return
    heads = ("passed", "95% interval", "failed", "of retrieval", "of generation", "unexplained", "n", "not judged")
    table = Table("criterion", "of", "threshold", *heads, "reply not read")
    for name, agent, one in rows:
        causes = (one.retrieval_failures, one.generation_failures, one.unexplained_failures)
        table.add_row(
            name,
            Text(plain(agent)),
            f"{found.thresholds[name]:g}",
            value_of(one.passed, ".1%"),
            interval_of(one.passed, ".1%"),
            *(_share(figure) for figure in (one.failed, *causes)),
            str(one.passed.n),
            str(one.passed.n_failed),
            _share(one.parse_failures),
        )
    print_whole(table)


def _share(figure: Figure | None) -> str:
    return "–" if figure is None else value_of(figure, ".1%")


def _print_told(found: Judged, verdicts: Sequence[AnswerVerdict]) -> None:
    """Pass or fail of whole answers with root causes, then problems and insights."""
    for agent, counts in _root_causes(verdicts).items():
        said = ", ".join(f"{plain(name)} {number}" for name, number in counts["root_causes"].items())
        line = f"{plain(agent)}: {counts['pass']} pass, {counts['fail']} fail, {counts['undecided']} undecided"
        print(f"{line}; root causes: {said}" if said else line)
    problems, insights = found.told()
    for title, sentences in (
        ("problems", [one.sentence for one in problems]),
        ("insights", [one.sentence for one in insights]),
    ):
        if sentences:
            print(f"{title}:")
        for sentence in sentences:
            print(plain(f"- {sentence}"))


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
    from rich.table import Table
    from rich.text import Text

    found = classification_figures(rows, resamples([row.query_id for row in rows], 1, 0, clusters))
    table = Table("classification", "of", "value", "95% interval", "n", "failed")
    for agent, figures in found.items():
        for name, figure in figures.items():
            shown = value_of(figure, ".3f"), interval_of(figure, ".3f"), str(figure.n), str(figure.n_failed)
            table.add_row(Text(plain(name)), Text(plain(agent)), *shown)
    if found:
        print_whole(table, "")
