"""`ragassay agree`, `agree-systems` and `calibrate`: how far judges agree with people, whether two sets of labels put
systems in one order, and what a judge's thresholds are worth.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

from ..terminal import (
    add_corpus,
    add_draws,
    add_json,
    add_results,
    add_sections,
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
    from ragassay.evaluate.agreement.calibrate import Calibration, Scored
    from ragassay.evaluate.agreement.label_tables import Ratings
    from ragassay.evaluate.agreement.systems import SystemsAgreement
    from ragassay.records import Figure

_WHOLE = ("kappa", "kappa(quadratic)", "off_by_one", "tau_b", "rho")
_AT_THRESHOLD = ("kappa", "balanced_accuracy", "accuracy", "tau_b")


def check_figure(found: Agreement, name: str) -> None:
    """Raises InputError where no judge has a figure of this name."""
    if not any(name in pair.figures for pair in found.pairs):
        there = ", ".join(dict.fromkeys(figure for pair in found.pairs for figure in pair.figures))
        raise InputError(f"there is no figure '{plain(name)}' to sort by", remedy=f"there are {there}")


def print_side_by_side(found: Agreement, by: str) -> None:
    """The judges by falling `by` (those without it last): over the whole scale, and at each threshold."""
    pairs = sorted(found.pairs, key=lambda pair: _place(pair, by))
    names = [name for name in dict.fromkeys((by, *_WHOLE)) if any(_value(pair, name) is not None for pair in pairs)]
    rows = [(pair.judge, *_cells(pair, by), *_values(pair, names[1:]), str(pair.n_pairs)) for pair in pairs]
    print_table(f"judges against {found.pairs[0].human}, by {by}", ("", by, "95% interval", *names[1:], "pairs"), rows)
    for label in dict.fromkeys(label for pair in pairs for label in _thresholds(pair)):
        kappa, *others = (f"{name}(rel={label})" for name in _AT_THRESHOLD)
        rows = [(pair.judge, *_cells(pair, kappa), *_values(pair, others)) for pair in pairs]
        print_table(f"relevant from {label} on", ("", _AT_THRESHOLD[0], "95% interval", *_AT_THRESHOLD[1:]), rows)
    for name, why in found.left_out.items():
        print(plain(f"left out: {name}: {why}"))


def _place(pair: PairAgreement, by: str) -> tuple[bool, float, str]:
    value = _value(pair, by)
    return value is None, -(value or 0.0), pair.judge


def _value(pair: PairAgreement, name: str) -> float | None:
    return pair.figures[name].value if name in pair.figures else None


def _cells(pair: PairAgreement, name: str) -> tuple[str, str]:
    figure = pair.figures.get(name)
    return ("–", "–") if figure is None else (value_of(figure, ".3f"), interval_of(figure, ".3f"))


def _values(pair: PairAgreement, names: Sequence[str]) -> list[str]:
    return [_cells(pair, name)[0] for name in names]


def _thresholds(pair: PairAgreement) -> list[str]:
    start, end = "kappa(rel=", ")"
    return [name.removeprefix(start).removesuffix(end) for name in pair.figures if name.startswith(start)]


JUDGED = ("relevance.jsonl", "pointwise.jsonl", "games.jsonl")
"""What a results folder has of a judge."""

MATRIX = 15
"""Labels whose confusion matrix a terminal has room for."""


def add_agree(verb: argparse.ArgumentParser) -> None:
    """Its options."""
    verb.add_argument(
        "corpus",
        type=folder_of,
        nargs="?",
        metavar="CORPUS",
        help="a corpus folder with labels.csv, or a results folder beside --labels: criterion by criterion, and games",
    )
    add_results(verb)
    verb.add_argument("--labels", type=path_of, metavar="FILE", help="a table of labels: CSV, TSV or JSON Lines")
    verb.add_argument("--human", metavar="COL", help="the column of people's labels")
    verb.add_argument(
        "--judge", action="append", metavar="COL", help="a judge's column; may be repeated; all: every one"
    )
    verb.add_argument("--by", metavar="COL", help="the column that names the query; default: query_id, if it is there")
    verb.add_argument(
        "--judgments",
        action="append",
        type=path_of,
        metavar="FILE",
        help="of labels.csv as label-sheet writes it: the judge's relevance.jsonl, pointwise.jsonl or games.jsonl; may "
        "be repeated",
    )
    verb.add_argument(
        "--qrels", action="append", type=path_of, metavar="FILE", help="instead: people's qrels, then the judge's"
    )
    verb.add_argument("--relevant", metavar="LABEL", help="the lowest label that counts as relevant")
    verb.add_argument("--scale", metavar="L,L,…", help="the labels in order, where they are words or some never occur")
    verb.add_argument(
        "--map",
        action="append",
        metavar="[COL:]OLD=NEW,…",
        help="recode labels (0=3,1=2), of all columns or of one; an empty NEW is a missing label; may be repeated",
    )
    verb.add_argument(
        "--sort-by",
        metavar="FIGURE",
        help="of several judges' table; default: kappa at --relevant, else kappa",
    )
    verb.add_argument("--plot", type=path_of, metavar="HTML", help="write the Bland-Altman plot here")
    add_draws(verb)
    add_json(verb)


def run_agree(options: argparse.Namespace) -> int:
    """Print the agreement of each judge with the people, and write the plot."""
    from ragassay.evaluate.agreement.agree import agree, bland_altman_plots, page
    from ragassay.files import write_text

    check_least(options, bootstrap=100, seed=0)
    if options.results and options.corpus is None:
        raise InputError(
            "--results goes with CORPUS", remedy="name the corpus folder, or the results folder in its place"
        )
    if options.corpus is not None or options.judgments:
        return _run_on_sheet(options)
    ratings, left_out = _ratings(options)
    found = agree(
        ratings,
        scale=options.scale.split(",") if options.scale else (),
        relevant=options.relevant,
        thresholds=True,
        left_out=left_out,
        bootstrap=options.bootstrap,
        seed=options.seed,
    )
    plot = page(bland_altman_plots(ratings, found)) if options.plot else None
    by = options.sort_by or (f"kappa(rel={found.relevant})" if options.relevant else "kappa")
    check_figure(found, by)
    if options.json:
        print_json(found.dump())
    else:
        _print_found(found, by=by, each="all" not in options.judge if options.judge else True)
    if plot is not None:
        write_text(options.plot, plot)
    return 0


def _run_on_sheet(options: argparse.Namespace) -> int:
    """The same of `labels.csv` and what the judge gave, criterion by criterion."""
    from ragassay.evaluate.agreement.agree import agree_on_criterion, bland_altman_plots, page
    from ragassay.files import write_text

    draws = {"bootstrap": options.bootstrap, "seed": options.seed}
    ratings = _sheet(options)
    found = {name: agree_on_criterion(each, relevant=options.relevant, **draws) for name, each in ratings.items()}
    plots = {
        f"{name}: {title}": drawn
        for name, each in found.items()
        if ratings[name].numeric
        for title, drawn in bland_altman_plots(ratings[name], each).items()
    }
    if options.plot and not plots:
        raise InputError("there is nothing to plot: people labelled games alone, whose labels are no numbers")
    if options.json:
        print_json({name: each.dump() for name, each in found.items()})
    else:
        for name, each in found.items():
            _print_found(each, f"{name}: ")
    if options.plot:
        write_text(options.plot, page(plots))
    return 0


def _sheet(options: argparse.Namespace) -> dict[str, Ratings]:
    """Labels and judgments of CORPUS, or of the files that are named. Raises InputError."""
    from ragassay.evaluate.agreement.agree import joined_files

    table_alone = (options.human, options.judge, options.by, options.qrels, options.scale, options.map, options.sort_by)
    if any(table_alone):
        what = "CORPUS" if options.corpus is not None else "--judgments"
        raise InputError(f"{what} goes with --labels alone, as label-sheet --take writes it, and --relevant")
    if options.corpus is not None:
        return _of_folder(options)
    if not options.labels:
        raise InputError("--judgments needs --labels", remedy="name the labels.csv that label-sheet --take wrote")
    return joined_files(options.labels, options.judgments)


def _of_folder(options: argparse.Namespace) -> dict[str, Ratings]:
    """Labels and judgments of a corpus folder and its results, or of a results folder. Raises InputError."""
    from ragassay.evaluate.agreement.agree import joined_files
    from ragassay.evaluate.inputs.clusters import source_clusters
    from ragassay.files import read_records
    from ragassay.records import Query

    labels, results = _folders(options)
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


def _folders(options: argparse.Namespace) -> tuple[Path, Path]:
    """labels.csv and the results folder: of a corpus folder, or of one that has no experiment.toml but results."""
    from ..pipeline.opening import open_workspace

    folder = options.corpus
    own = isinstance(folder, Path) and not options.results and not (folder / "experiment.toml").exists()
    if own and any((folder / name).is_file() for name in JUDGED):
        return options.labels or folder / "labels.csv", folder
    workspace = open_workspace(options)
    return options.labels or workspace.own_labels, workspace.results


def _print_found(found: Agreement, before: str = "", *, by: str = "kappa", each: bool = True) -> None:
    for pair in found.pairs if each else ():
        _print_pair(pair, before, "sections" if found.by == "section" else "queries")
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
        raise InputError(
            "needs --labels FILE, --human COL and --judge COL (or CORPUS, or --judgments FILE), or --qrels twice"
        )
    table = read_labels(options.labels)
    if options.map:
        table = recoded(table, mapped_columns(table, options.human, options.judge, options.by), options.map)
    judges, left_out = judges_of(table, options.human, options.judge, options.by)
    return ratings(table, [options.human, *judges], options.by), left_out


def _print_pair(pair: PairAgreement, before: str, clusters: str) -> None:
    title = f"{before}{pair.judge} against {pair.human}: {pair.n_pairs} pairs of {pair.n_clusters} {clusters}"
    if pair.n_missing:
        title += f", {pair.n_missing} more lack a label"
    print_agreement(title, pair.figures, pair.undefined)
    print_p(pair.p, ranks_by(pair.n_clusters, pair.n_pairs, clusters))
    if pair.confusion is not None and len(pair.confusion.labels) > MATRIX:
        print(f"{len(pair.confusion.labels)} different labels: which met which is in --json")
    elif pair.confusion is not None:
        rows = [
            (label, *map(str, counts))
            for label, counts in zip(pair.confusion.labels, pair.confusion.counts, strict=True)
        ]
        print_table("rows: people's label, columns: the judge's", (pair.human, *pair.confusion.labels), rows)


def add_agree_systems(verb: argparse.ArgumentParser) -> None:
    """Its options."""
    verb.add_argument("--qrels", action="append", type=path_of, metavar="FILE", help="qrels, TREC or BEIR; given twice")
    verb.add_argument("--runs", type=path_of, metavar="DIR", help="a folder of TREC runs, one a system")
    verb.add_argument("--measure", metavar="M", help="nDCG@10, RR(rel=2)@5, …, or as trec_eval has it")
    verb.add_argument("--scores", type=path_of, metavar="FILE", help="instead: a table of system, score, score")
    verb.add_argument("--by", metavar="COL", help="of --scores: a column that divides the systems, such as year")
    add_sections(verb)
    add_draws(verb)
    add_json(verb)


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
        first, second = two_qrels(options)
        found = agree_on_runs(
            first,
            second,
            options.runs,
            options.measure,
            sections=options.sections,
            bootstrap=options.bootstrap,
            seed=options.seed,
        )
    if options.json:
        print_json(found.dump())
        return 0
    _print(found)
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
    rows = [(name, str(len(each.scores)), *_agree_systems_cells(each, names)) for name, each in found.items()]
    print_table("order of the systems", header, rows)
    for name, each in found.items():
        print_undefined({f"{options.by} {name}: {figure}": why for figure, why in each.undefined.items()})
    print_notes(list(dict.fromkeys(note for each in found.values() for note in each.notes)))
    return 0


def _agree_systems_cells(found: SystemsAgreement, names: Sequence[str]) -> list[str]:
    return [
        cell
        for name in names
        for cell in (value_of(found.figures[name]), f"{found.p[name]:.2g}" if name in found.p else "–")
    ]


def _print(found: SystemsAgreement) -> None:
    _print_scores(found, found.measure or "scores")
    print_agreement("order of the systems", found.figures, found.undefined)
    print_p(found.p, "systems taken as drawn one by one")
    print_notes(found.notes)


def _print_scores(found: SystemsAgreement, title: str) -> None:
    rows = [(name, f"{a:.4f}", f"{b:.4f}") for name, (a, b) in found.scores.items()]
    print_table(title, ("", found.first, found.second), rows)


_MODES = "needs CORPUS, or --labels FILE with --judgments FILE, or --labels FILE with --human COL and --judge COL"


def add_calibrate(verb: argparse.ArgumentParser) -> None:
    """Its options."""
    add_corpus(verb, needed=False)
    verb.add_argument("--labels", type=path_of, metavar="FILE", help="instead of CORPUS: labels.csv, or a table")
    verb.add_argument(
        "--judgments",
        action="append",
        type=path_of,
        metavar="FILE",
        help="of labels.csv: the judge's relevance.jsonl, pointwise.jsonl or judgments.jsonl; may be repeated",
    )
    verb.add_argument("--human", metavar="COL", help="of a table: the column of people's labels")
    verb.add_argument("--judge", action="append", metavar="COL", help="and a column of a judge's numbers; repeatable")
    verb.add_argument("--by", metavar="COL", help="the column that names the query; default: query_id, if it is there")
    verb.add_argument("--relevant", metavar="LABEL", help="people's lowest label that is a yes; default: 2 of 0 to 2")
    verb.add_argument(
        "--threshold", type=float, metavar="X", help="the judge's at present (default: as the experiment has it)"
    )
    verb.add_argument(
        "--choose-by",
        choices=["kappa", "balanced_accuracy"],
        default="kappa",
        help="what is made as large as it gets; default: kappa",
    )
    add_sections(verb)
    add_draws(verb)
    add_json(verb)


def run_calibrate(options: argparse.Namespace) -> int:
    """Print, for each judge and criterion, what its labels and the best threshold are worth."""
    from ragassay.evaluate.agreement.calibrate import calibrate

    check_least(options, bootstrap=100, seed=0)
    draws = {"bootstrap": options.bootstrap, "seed": options.seed}
    found = [calibrate(scored, aim=options.choose_by, **draws) for scored in _scored(options)]
    if options.json:
        print_json([each.dump() for each in found])
        return 0
    for each in found:
        _calibrate_print(each)
    return 0


def _scored(options: argparse.Namespace) -> list[Scored]:
    from ragassay.evaluate.agreement.calibrate import of_experiment, of_files, of_table

    from ..pipeline.opening import locked, open_workspace

    of_columns = bool(options.human or options.judge or options.by)
    if [options.corpus is not None, bool(options.judgments), of_columns].count(True) != 1:
        raise InputError(_MODES)
    if (options.corpus is None) != bool(options.labels) or (options.sections and not options.judgments):
        raise InputError(_MODES, remedy="--sections goes with --judgments" if options.sections else None)
    if of_columns:
        if not (options.human and options.judge):
            raise InputError(_MODES)
        given = {"relevant": options.relevant, "threshold": options.threshold}
        return of_table(options.labels, options.human, options.judge, by=options.by, **given)
    least = _number(options.relevant)
    if options.judgments:
        given = {"relevant": least, "threshold": options.threshold}
        return of_files(options.labels, options.judgments, sections=options.sections, **given)
    workspace = open_workspace(options)
    with locked(workspace):
        return of_experiment(workspace, least, options.threshold)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        raise InputError(f"--relevant is '{plain(text or '')}', and labels.csv has numbers") from None


def _calibrate_print(found: Calibration) -> None:
    from ragassay.evaluate.agreement.calibrate import advice

    half = found.reported_on
    title = f"{found.criterion} ({found.file}) by {found.judge}, {found.on}: people's yes {found.relevant}; {half.n} "
    title += f"labels of {half.n_clusters} queries or sections to report on, {half.n_failed} more lack the judge's"
    figures = ((found.before.get(name), found.after.get(name), found.difference.get(name)) for name in found.before)
    rows = [(name, *map(_cell, each)) for name, each in zip(found.before, figures, strict=True)]
    print_table(title, ("95% intervals below", "present", "chosen", "difference"), rows)
    print_undefined(found.undefined)
    print(plain(advice(found)))


def _cell(figure: Figure | None) -> str:
    return "–" if figure is None else f"{value_of(figure, '.3f')}\n{interval_of(figure, '.3f')}"
