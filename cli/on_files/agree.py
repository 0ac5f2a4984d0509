"""`ragassay agree`: how far judges agree with people, on plain files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ragassay.errors import InputError

from ..options import Verbs, add_draws, add_json, add_verb, check_least, path_of, two_qrels
from ..printing import print_agreement, print_json, print_notes, print_p, print_table

if TYPE_CHECKING:
    from ragassay.evaluate.agreement.agree import Agreement, PairAgreement
    from ragassay.evaluate.agreement.label_tables import Ratings

MATRIX = 15
"""Labels whose confusion matrix a terminal has room for."""


def add(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "say how far judges agree with people: kappa, Krippendorff's alpha, tau-b, precision, recall, …"
    verb = add_verb(verbs, "agree", help_text, run)
    verb.add_argument("--labels", type=path_of, metavar="FILE", help="a table of labels: CSV, TSV or JSON Lines")
    verb.add_argument("--human", metavar="COL", help="the column of people's labels")
    verb.add_argument("--judge", action="append", metavar="COL", help="a judge's column; may be repeated")
    verb.add_argument("--by", metavar="COL", help="the column that names the query; default: query_id, if it is there")
    verb.add_argument(
        "--judgments",
        action="append",
        type=path_of,
        metavar="FILE",
        help="of labels.csv as label-sheet writes it: the judge's relevance.jsonl or pointwise.jsonl; may be repeated",
    )
    verb.add_argument(
        "--qrels", action="append", type=path_of, metavar="FILE", help="instead: people's qrels, then the judge's"
    )
    verb.add_argument("--relevant", metavar="LABEL", help="the lowest label that counts as relevant")
    verb.add_argument("--scale", metavar="L,L,…", help="the labels in order, where they are words or some never occur")
    verb.add_argument("--plot", type=path_of, metavar="HTML", help="write the Bland-Altman plot here")
    add_draws(verb)
    add_json(verb)


def run(options: argparse.Namespace) -> int:
    """Print the agreement of each judge with the people, and write the plot."""
    from ragassay.evaluate.agreement.agree import agree, bland_altman_plots
    from ragassay.evaluate.agreement.bland_altman import page
    from ragassay.files import write_text

    check_least(options, bootstrap=100, seed=0)
    if options.judgments:
        return _run_on_sheet(options)
    ratings = _ratings(options)
    found = agree(
        ratings,
        scale=options.scale.split(",") if options.scale else (),
        relevant=options.relevant,
        bootstrap=options.bootstrap,
        seed=options.seed,
    )
    plot = page(bland_altman_plots(ratings, found)) if options.plot else None
    if options.json:
        print_json(found.dump())
    else:
        _print_found(found)
    if plot is not None:
        write_text(options.plot, plot)
    return 0


def _run_on_sheet(options: argparse.Namespace) -> int:
    """The same of `labels.csv` and the judge's files, criterion by criterion."""
    from ragassay.evaluate.agreement.agree import agree, bland_altman_plots
    from ragassay.evaluate.agreement.bland_altman import page
    from ragassay.evaluate.agreement.joined import SCALE, joined_files
    from ragassay.files import write_text

    if not options.labels or options.human or options.judge or options.by or options.qrels or options.scale:
        raise InputError("--judgments goes with --labels alone, as label-sheet --take writes it, and --relevant")
    ratings = joined_files(options.labels, options.judgments)
    draws = {"bootstrap": options.bootstrap, "seed": options.seed}
    found = {name: agree(each, scale=SCALE, relevant=options.relevant, **draws) for name, each in ratings.items()}
    plots = {
        f"{name}: {title}": drawn
        for name, each in found.items()
        for title, drawn in bland_altman_plots(ratings[name], each).items()
    }
    if options.json:
        print_json({name: each.dump() for name, each in found.items()})
    else:
        for name, each in found.items():
            _print_found(each, f"{name}: ")
    if options.plot:
        write_text(options.plot, page(plots))
    return 0


def _print_found(found: Agreement, before: str = "") -> None:
    for pair in found.pairs:
        _print_pair(pair, before)
    if found.all_raters:
        print_agreement("people and judges together", found.all_raters, found.all_raters_undefined)
    print_notes(found.notes)


def _ratings(options: argparse.Namespace) -> Ratings:
    from ragassay.evaluate.agreement.label_tables import qrels_ratings, ratings, read_labels

    if options.qrels:
        if options.labels or options.human or options.judge or options.by:
            raise InputError("--qrels goes without --labels, --human, --judge and --by")
        return qrels_ratings(*two_qrels(options))
    if not (options.labels and options.human and options.judge):
        raise InputError("needs --labels FILE, --human COL and --judge COL (or --judgments FILE), or --qrels twice")
    return ratings(read_labels(options.labels), [options.human, *options.judge], options.by)


def _print_pair(pair: PairAgreement, before: str) -> None:
    title = f"{before}{pair.judge} against {pair.human}: {pair.n_pairs} pairs of {pair.n_clusters} queries"
    if pair.n_missing:
        title += f", {pair.n_missing} more lack a label"
    print_agreement(title, pair.figures, pair.undefined)
    print_p(pair.p, "pairs taken as independent")
    if pair.confusion is not None and len(pair.confusion.labels) > MATRIX:
        print(f"{len(pair.confusion.labels)} different labels: which met which is in --json")
    elif pair.confusion is not None:
        rows = [
            (label, *map(str, counts))
            for label, counts in zip(pair.confusion.labels, pair.confusion.counts, strict=True)
        ]
        print_table("rows: people's label, columns: the judge's", (pair.human, *pair.confusion.labels), rows)
