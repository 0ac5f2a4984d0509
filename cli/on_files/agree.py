"""`ragassay agree`: how far judges agree with people, on plain files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ragassay.errors import InputError

from ..options import Verbs, add_draws, add_json, add_verb, check_least, path_of, two_qrels
from ..printing import print_agreement, print_json, print_notes, print_table

if TYPE_CHECKING:
    from ragassay.evaluate.agreement.agree import PairAgreement
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
        for pair in found.pairs:
            _print_pair(pair)
        if found.all_raters:
            print_agreement("people and judges together", found.all_raters, found.all_raters_undefined)
        print_notes(found.notes)
    if plot is not None:
        write_text(options.plot, plot)
    return 0


def _ratings(options: argparse.Namespace) -> Ratings:
    from ragassay.evaluate.agreement.label_tables import qrels_ratings, ratings, read_labels

    if options.qrels:
        if options.labels or options.human or options.judge or options.by:
            raise InputError("--qrels goes without --labels, --human, --judge and --by")
        return qrels_ratings(*two_qrels(options))
    if not (options.labels and options.human and options.judge):
        raise InputError("needs --labels FILE, --human COL and --judge COL, or --qrels twice")
    return ratings(read_labels(options.labels), [options.human, *options.judge], options.by)


def _print_pair(pair: PairAgreement) -> None:
    title = f"{pair.judge} against {pair.human}: {pair.n_pairs} pairs of {pair.n_clusters} queries"
    if pair.n_missing:
        title += f", {pair.n_missing} more lack a label"
    print_agreement(title, pair.figures, pair.undefined)
    if pair.confusion is not None and len(pair.confusion.labels) > MATRIX:
        print(f"{len(pair.confusion.labels)} different labels: which met which is in --json")
    elif pair.confusion is not None:
        rows = [
            (label, *map(str, counts))
            for label, counts in zip(pair.confusion.labels, pair.confusion.counts, strict=True)
        ]
        print_table("rows: people's label, columns: the judge's", (pair.human, *pair.confusion.labels), rows)
