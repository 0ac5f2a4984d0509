"""`ragassay label-sheet`, `agree`, `agree systems` and `agree calibrate`: what people label, how far judges agree with
them, whether two sets of labels put systems in one order, and what a judge's thresholds are worth.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import did_you_mean, plain

from ..terminal import (
    add,
    add_shared,
    check_least,
    folder_of,
    interval_of,
    path_of,
    print_agreement,
    print_json,
    print_notes,
    print_p,
    print_table,
    print_undefined,
    ranks_by,
    two_qrels,
    value_of,
)

if TYPE_CHECKING:
    from ragassay.evaluate.agreement.agree import Agreement, PairAgreement
    from ragassay.evaluate.agreement.calibrate import Scored
    from ragassay.evaluate.agreement.label_tables import Ratings
    from ragassay.evaluate.agreement.systems import SystemsAgreement
    from ragassay.experiment.workspace import Workspace

_WHOLE = ("kappa", "kappa(quadratic)", "off_by_one", "tau_b", "rho")
_AT_THRESHOLD = ("kappa", "balanced_accuracy", "accuracy", "tau_b")


def print_side_by_side(found: Agreement, by: str) -> None:
    """The judges by falling `by` (those without it last): over the whole scale, and at each threshold."""

    def value(pair: PairAgreement, name: str) -> float | None:
        return pair.figures[name].value if name in pair.figures else None

    def cells(pair: PairAgreement, first: str, others: Sequence[str]) -> list[str]:
        figures = [pair.figures.get(name) for name in (first, *others)]
        values = [value_of(one, ".3f") for one in figures]
        return [pair.judge, values[0], interval_of(figures[0], ".3f"), *values[1:]]

    pairs = sorted(found.pairs, key=lambda one: (value(one, by) is None, -(value(one, by) or 0.0), one.judge))
    names = [name for name in dict.fromkeys((by, *_WHOLE)) if any(value(pair, name) is not None for pair in pairs)]
    rows = [[*cells(pair, by, names[1:]), str(pair.n_pairs)] for pair in pairs]
    print_table(f"judges against {found.pairs[0].human}, by {by}", ("", by, "95% interval", *names[1:], "pairs"), rows)
    kappas = dict.fromkeys(name for pair in pairs for name in pair.figures if name.startswith("kappa(rel="))
    for label in [name.removeprefix("kappa(rel=").removesuffix(")") for name in kappas]:
        kappa, *others = (f"{name}(rel={label})" for name in _AT_THRESHOLD)
        rows = [cells(pair, kappa, others) for pair in pairs]
        print_table(f"relevant from {label} on", ("", _AT_THRESHOLD[0], "95% interval", *_AT_THRESHOLD[1:]), rows)
    for name, why in found.left_out.items():
        print(plain(f"left out: {name}: {why}"))


JUDGED = ("relevance.jsonl", "pointwise.jsonl", "games.jsonl")
"""What a results folder has of a judge."""

MATRIX = 15
"""Labels whose confusion matrix a terminal has room for."""


def add_agree(verb: argparse.ArgumentParser) -> None:
    add(
        verb,
        "corpus CORPUS",
        "a corpus folder with labels.csv, or a results folder beside --labels: criterion by criterion, and games",
        type=folder_of,
        nargs="?",
    )
    add_shared(verb, "--results")
    add(verb, "--labels FILE", "a table of labels: CSV, TSV or JSON Lines", type=path_of)
    add(verb, "--human COL", "the column of people's labels")
    add(verb, "--judge COL", "a judge's column; may be repeated; all: every one", action="append")
    add_shared(verb, "--by")
    add(
        verb,
        "--judgments FILE",
        "of labels.csv as label-sheet writes it: the judge's relevance.jsonl, pointwise.jsonl or games.jsonl; may "
        "be repeated",
        action="append",
        type=path_of,
    )
    add(verb, "--qrels FILE", "instead: people's qrels, then the judge's", action="append", type=path_of)
    add(verb, "--relevant LABEL", "the lowest label that counts as relevant")
    add(verb, "--scale L,L,…", "the labels in order, where they are words or some never occur")
    add(
        verb,
        "--map [COL:]OLD=NEW,…",
        "recode labels (0=3,1=2), of all columns or of one; an empty NEW is a missing label; may be repeated",
        action="append",
    )
    add(verb, "--sort-by FIGURE", "of several judges' table; default: kappa at --relevant, else kappa")
    add(verb, "--plot HTML", "write the Bland-Altman plot here", type=path_of)
    add_shared(verb, "--bootstrap", "--seed", "--json")


def run_agree(options: argparse.Namespace) -> int:
    """Print the agreement of each judge with the people, of `labels.csv` criterion by criterion, and write the plot."""
    from ragassay.evaluate.agreement.agree import agree, agree_on_criterion, bland_altman_plots, page
    from ragassay.files import write_text

    check_least(options, bootstrap=100, seed=0)
    if options.results and options.corpus is None:
        remedy = "name the corpus folder, or the results folder in its place"
        raise InputError("--results goes with CORPUS", remedy=remedy)
    draws = {"bootstrap": options.bootstrap, "seed": options.seed}
    by, each = "kappa", True
    if on_sheet := options.corpus is not None or bool(options.judgments):
        ratings = _sheet(options)
        found = {name: agree_on_criterion(one, relevant=options.relevant, **draws) for name, one in ratings.items()}
    else:
        table, left_out = _ratings(options)
        scale, least = options.scale.split(",") if options.scale else (), options.relevant
        ratings = {"": table}
        found = {"": agree(table, scale=scale, relevant=least, thresholds=True, left_out=left_out, **draws)}
        by = options.sort_by or (f"kappa(rel={found[''].relevant})" if least else "kappa")
        each = "all" not in (options.judge or ())
        if not any(by in pair.figures for pair in found[""].pairs):
            there = ", ".join(dict.fromkeys(figure for pair in found[""].pairs for figure in pair.figures))
            raise InputError(f"there is no figure '{plain(by)}' to sort by", remedy=f"there are {there}")
    plots = {
        f"{name}: {title}" if name else title: drawn
        for name, one in found.items()
        if options.plot and (ratings[name].numeric or not on_sheet)
        for title, drawn in bland_altman_plots(ratings[name], one).items()
    }
    if options.plot and not plots:
        raise InputError("there is nothing to plot: people labelled games alone, whose labels are no numbers")
    if options.json:
        print_json({name: one.dump() for name, one in found.items()} if on_sheet else found[""].dump())
    else:
        for name, one in found.items():
            _print_found(one, f"{name}: " if name else "", by=by, each=each)
    if options.plot:
        write_text(options.plot, page(plots))
    return 0


def _sheet(options: argparse.Namespace) -> dict[str, Ratings]:
    """Labels and judgments of CORPUS, or of the files that are named. Raises InputError.

    CORPUS is a corpus folder with its results, or a results folder, which has no experiment.toml.
    """
    from ragassay.evaluate.agreement.agree import joined_files
    from ragassay.evaluate.inputs.clusters import source_clusters
    from ragassay.files import read_records
    from ragassay.records import Query

    from ..pipeline.opening import open_workspace

    folder = options.corpus
    table_alone = (options.human, options.judge, options.by, options.qrels, options.scale, options.map, options.sort_by)
    if any(table_alone):
        what = "CORPUS" if folder is not None else "--judgments"
        raise InputError(f"{what} goes with --labels alone, as label-sheet --take writes it, and --relevant")
    if folder is None:
        if not options.labels:
            raise InputError("--judgments needs --labels", remedy="name the labels.csv that label-sheet --take wrote")
        return joined_files(options.labels, options.judgments)
    own = isinstance(folder, Path) and not options.results and not (folder / "experiment.toml").exists()
    if own and any((folder / name).is_file() for name in JUDGED):
        labels, results = options.labels or folder / "labels.csv", folder
    else:
        workspace = open_workspace(options)
        labels, results = options.labels or workspace.own_labels, workspace.results
    if not labels.is_file():
        remedy = "`ragassay label-sheet` draws what people should label; or name the file with --labels"
        raise InputError("there are no labels of people", file=labels, remedy=remedy)
    judged = options.judgments or [path for name in JUDGED if (path := results / name).is_file()]
    if not judged:
        problem = f"holds none of {', '.join(JUDGED)}"
        raise InputError(problem, file=results, remedy="run `ragassay judge`, or name the folder with --results")
    queries = results / "queries.jsonl"
    clusters = source_clusters(read_records(queries, Query)) if queries.is_file() else None
    return joined_files(labels, judged, clusters)


def _print_found(found: Agreement, before: str = "", *, by: str = "kappa", each: bool = True) -> None:
    for pair in found.pairs if each else ():
        clusters = "sections" if found.by == "section" else "queries"
        title = f"{before}{pair.judge} against {pair.human}: {pair.n_pairs} pairs of {pair.n_clusters} {clusters}"
        title += f", {pair.n_missing} more lack a label" if pair.n_missing else ""
        print_agreement(title, pair.figures, pair.undefined)
        print_p(pair.p, ranks_by(pair.n_clusters, pair.n_pairs, clusters))
        if pair.confusion is not None and len(labels := pair.confusion.labels) > MATRIX:
            print(f"{len(labels)} different labels: which met which is in --json")
        elif pair.confusion is not None:
            rows = [(label, *map(str, counts)) for label, counts in zip(labels, pair.confusion.counts, strict=True)]
            print_table("rows: people's label, columns: the judge's", (pair.human, *labels), rows)
    if len(found.pairs) > 1 or not each:
        print_side_by_side(found, by)
    if found.all_raters:
        print_agreement("people and judges together", found.all_raters, found.all_raters_undefined)
    print_notes([f"{before}{note}" for note in found.notes])


def _ratings(options: argparse.Namespace) -> tuple[Ratings, dict[str, str]]:
    """The people and the judges, and of each column that is no judge why not. Raises InputError."""
    from ragassay.evaluate.agreement.label_tables import (
        judges_of,
        mapped_columns,
        qrels_ratings,
        ratings,
        read_labels,
        recoded,
        recoded_ratings,
    )

    if options.qrels:
        if options.labels or options.human or options.judge or options.by:
            raise InputError("--qrels goes without --labels, --human, --judge and --by")
        return recoded_ratings(qrels_ratings(*two_qrels(options)), options.map or []), {}
    if not (options.labels and options.human and options.judge):
        needed = "--labels FILE, --human COL and --judge COL (or CORPUS, or --judgments FILE), or --qrels twice"
        raise InputError(f"needs {needed}")
    table = read_labels(options.labels)
    if options.map:
        table = recoded(table, mapped_columns(table, options.human, options.judge, options.by), options.map)
    judges, left_out = judges_of(table, options.human, options.judge, options.by)
    return ratings(table, [options.human, *judges], options.by), left_out


def add_agree_systems(verb: argparse.ArgumentParser) -> None:
    add(verb, "--qrels FILE", "qrels, TREC or BEIR; given twice", action="append", type=path_of)
    add(verb, "--runs DIR", "a folder of TREC runs, one a system", type=path_of)
    add(verb, "--measure M", "nDCG@10, RR(rel=2)@5, …, or as trec_eval has it")
    add(verb, "--scores FILE", "instead: a table of system, score, score", type=path_of)
    add(verb, "--by COL", "of --scores: a column that divides the systems, such as year")
    add_shared(verb, "--sections", "--bootstrap", "--seed", "--json")


def run_agree_systems(options: argparse.Namespace) -> int:
    """Print how far two sets of labels, or two columns of scores, put systems in the same order."""
    from ragassay.evaluate.agreement.systems import agree_by_group, agree_on_runs, agree_on_scores

    check_least(options, bootstrap=100, seed=0)
    if options.scores:
        if options.qrels or options.runs or options.measure or options.sections:
            raise InputError("--scores goes without --qrels, --runs, --measure and --sections")
        if options.by:
            return _print_groups(agree_by_group(options.scores, options.by), options)
        found = agree_on_scores(options.scores)
    else:
        if options.by:
            raise InputError("--by goes with --scores, whose column it names")
        if not (options.qrels and options.runs and options.measure):
            raise InputError("needs --qrels twice, --runs DIR and --measure M, or --scores FILE")
        found = agree_on_runs(
            *two_qrels(options),
            options.runs,
            options.measure,
            sections=options.sections,
            bootstrap=options.bootstrap,
            seed=options.seed,
        )
    if options.json:
        print_json(found.dump())
        return 0
    _print_scores(found, found.measure or "scores")
    print_agreement("order of the systems", found.figures, found.undefined)
    print_p(found.p, "systems taken as drawn one by one")
    print_notes(found.notes)
    return 0


def _print_groups(found: Mapping[str, SystemsAgreement], options: argparse.Namespace) -> int:
    """Each group's leaderboard, and how far its two orders agree side by side."""
    if options.json:
        print_json({name: each.dump() for name, each in found.items()})
        return 0
    for name, each in found.items():
        _print_scores(each, f"{options.by} {name}")
    names = list(next(iter(found.values())).figures)
    header = (options.by, "systems", *(column for name in names for column in (name, "p")))
    rows = []
    for group, each in found.items():
        cells = [(value_of(each.figures[one]), f"{each.p[one]:.2g}" if one in each.p else "–") for one in names]
        rows.append((group, str(len(each.scores)), *chain(*cells)))
    print_table("order of the systems", header, rows)
    for name, each in found.items():
        print_undefined({f"{options.by} {name}: {figure}": why for figure, why in each.undefined.items()})
    print_notes(list(dict.fromkeys(note for each in found.values() for note in each.notes)))
    return 0


def _print_scores(found: SystemsAgreement, title: str) -> None:
    rows = [(name, f"{a:.4f}", f"{b:.4f}") for name, (a, b) in found.scores.items()]
    print_table(title, ("", found.first, found.second), rows)


_MODES = "needs CORPUS, or --labels FILE with --judgments FILE, or --labels FILE with --human COL and --judge COL"


def add_calibrate(verb: argparse.ArgumentParser) -> None:
    add_shared(verb, "[CORPUS]", "--results")
    add(verb, "--labels FILE", "instead of CORPUS: labels.csv, or a table", type=path_of)
    add(
        verb,
        "--judgments FILE",
        "of labels.csv: the judge's relevance.jsonl, pointwise.jsonl or judgments.jsonl; may be repeated",
        action="append",
        type=path_of,
    )
    add(verb, "--human COL", "of a table: the column of people's labels")
    add(verb, "--judge COL", "and a column of a judge's numbers; repeatable", action="append")
    add_shared(verb, "--by")
    add(verb, "--relevant LABEL", "people's lowest label that is a yes; default: 2 of 0 to 2")
    add(verb, "--threshold X", "the judge's at present (default: as the experiment has it)", type=float)
    add(
        verb, "--choose-by", "what is made as large as it gets", choices=["kappa", "balanced_accuracy"], default="kappa"
    )
    add_shared(verb, "--sections", "--bootstrap", "--seed", "--json")


def run_calibrate(options: argparse.Namespace) -> int:
    """Print, for each judge and criterion, what its labels and the best threshold are worth."""
    from ragassay.evaluate.agreement.calibrate import advice, calibrate

    check_least(options, bootstrap=100, seed=0)
    draws = {"bootstrap": options.bootstrap, "seed": options.seed}
    found = [calibrate(scored, aim=options.choose_by, **draws) for scored in _scored(options)]
    if options.json:
        print_json([each.dump() for each in found])
        return 0
    for each in found:
        half, columns = each.reported_on, (each.before, each.after, each.difference)
        title = f"{each.criterion} ({each.file}) by {each.judge}, {each.on}: people's yes {each.relevant}; {half.n} "
        title += f"labels of {half.n_clusters} queries or sections to report on, {half.n_failed} more lack the judge's"
        rows = []
        for name in each.before:
            figures = [column.get(name) for column in columns]
            rows.append((name, *(value_of(one, ".3f") for one in figures)))
            rows.append(("", *("" if one is None else interval_of(one, ".3f") for one in figures)))
        print_table(title, ("95% intervals below", "present", "chosen", "difference"), rows)
        print_undefined(each.undefined)
        print(plain(advice(each)))
    return 0


def _scored(options: argparse.Namespace) -> list[Scored]:
    from ragassay.evaluate.agreement.calibrate import of_experiment, of_files, of_table

    from ..pipeline.opening import locked, open_workspace

    of_columns = bool(options.human or options.judge or options.by)
    if (options.corpus is not None) + bool(options.judgments) + of_columns != 1:
        raise InputError(_MODES)
    if (options.corpus is None) != bool(options.labels) or (options.sections and not options.judgments):
        raise InputError(_MODES, remedy="--sections goes with --judgments" if options.sections else None)
    if of_columns:
        if not (options.human and options.judge):
            raise InputError(_MODES)
        given = {"relevant": options.relevant, "threshold": options.threshold}
        return of_table(options.labels, options.human, options.judge, by=options.by, **given)
    if options.judgments:
        given = {"relevant": _least(options), "threshold": options.threshold}
        return of_files(options.labels, options.judgments, sections=options.sections, **given)
    least, workspace = _least(options), open_workspace(options)
    with locked(workspace):
        return of_experiment(workspace, least, options.threshold)


def _least(options: argparse.Namespace) -> float | None:
    try:
        return None if options.relevant is None else float(options.relevant)
    except ValueError:
        raise InputError(f"--relevant is '{plain(options.relevant)}', and labels.csv has numbers") from None


def add_label_sheet(verb: argparse.ArgumentParser) -> None:
    add_shared(verb, "CORPUS", "--results")
    add(verb, "--n N", "about how many labels", type=int, default=100)
    add(verb, "--seed N", "of the draw", type=int, default=7)
    add(verb, "--out CSV", "the sheet (default: in CORPUS)", type=path_of)
    add(
        verb,
        "--kind",
        "draw only these, may be repeated (passages come by whole queries, which MRR needs); default: all",
        action="append",
        choices=["passages", "answers", "games"],
    )
    add(verb, "--criterion NAME", "of answers, may be repeated; default: all", action="append")
    add(verb, "--take FILE", "take the labels of a filled sheet into labels.csv", type=path_of)
    add(verb, "--who NAME", "with --take: who labelled it")


def run_label_sheet(options: argparse.Namespace) -> int:
    """Draw, or with --take take in."""
    from ragassay.evaluate.human_labels.sheet import take_sheet

    from ..pipeline.opening import locked, open_workspace

    workspace = open_workspace(options)
    with locked(workspace):
        if not options.take:
            return _draw(workspace, options)
        who = (options.who or "").strip()
        if not who:
            raise InputError("--take needs --who", remedy="say who labelled the sheet, by name or initials")
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        n_labels, n_empty = take_sheet(workspace, options.take, who, today)
    left = f", {n_empty} left empty" if n_empty else ""
    print(f"{workspace.own_labels}: {n_labels} labels by {who}{left}; `ragassay run` now corrects with them")
    return 0


def _draw(workspace: Workspace, options: argparse.Namespace) -> int:
    from ragassay.evaluate.human_labels.frame import KINDS
    from ragassay.evaluate.human_labels.sheet import draw_into
    from ragassay.files import read_records
    from ragassay.records import Query, left_out, originals

    if options.n < 1:
        raise InputError(f"--n is {options.n}, it must be at least 1")
    judged = workspace.experiment.judge.criteria
    if unknown := [name for name in options.criterion or () if name not in judged]:
        remedy = f"{did_you_mean(unknown[0], judged)}there are {', '.join(judged)}"
        raise InputError(f"'{unknown[0]}' is no criterion of this experiment", remedy=remedy)
    kinds, seed = options.kind or KINDS, options.seed
    out, n = draw_into(workspace, n=options.n, seed=seed, kinds=kinds, criteria=options.criterion, out=options.out)
    queries = read_records(workspace.queries, Query)
    print_notes(left_out(len(queries) - len(originals(queries))))
    print(
        f"{out}: {n} things to label. Fill the column 'label', save as CSV, then "
        f"`ragassay label-sheet {options.corpus} --take FILE --who NAME`."
    )
    return 0
