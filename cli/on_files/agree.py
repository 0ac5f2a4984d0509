"""`ragassay agree`: how far judges agree with people, on plain files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import InputError

from ..options import Verbs, add_draws, add_json, add_results, add_verb, check_least, folder_of, path_of, two_qrels
from ..printing import print_agreement, print_json, print_notes, print_p, print_table, ranks_by
from .side_by_side import check_figure, print_side_by_side

if TYPE_CHECKING:
    from ragassay.evaluate.agreement.agree import Agreement, PairAgreement
    from ragassay.evaluate.agreement.label_tables import Ratings

JUDGED = ("relevance.jsonl", "pointwise.jsonl", "games.jsonl")
"""What a results folder has of a judge."""

MATRIX = 15
"""Labels whose confusion matrix a terminal has room for."""


def add_agree(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "say how far judges agree with people: kappa, Krippendorff's alpha, tau-b, precision, recall, …"
    verb = add_verb(verbs, "agree", help_text, run_agree)
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
    from ragassay.evaluate.agreement.agree import agree, bland_altman_plots
    from ragassay.evaluate.agreement.bland_altman import page
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
    from ragassay.evaluate.agreement.agree import bland_altman_plots
    from ragassay.evaluate.agreement.bland_altman import page
    from ragassay.evaluate.agreement.joined import agree_on_criterion
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
    from ragassay.evaluate.agreement.joined import joined_files

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
    from ragassay.evaluate.agreement.joined import joined_files
    from ragassay.evaluate.inputs.sections import source_clusters
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
    from ragassay.evaluate.agreement.label_tables import qrels_ratings, ratings, read_labels
    from ragassay.evaluate.agreement.several_judges.columns import judges_of, mapped_columns
    from ragassay.evaluate.agreement.several_judges.recoding import recoded, recoded_ratings

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
