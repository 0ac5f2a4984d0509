"""`ragassay score`: a TREC run against qrels."""

from __future__ import annotations

import argparse

from ..options import Verbs, add_json, add_sections, add_verb, path_of
from ..printing import print_figures, print_json


def add_score(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(verbs, "score", "score a TREC run against qrels (TREC or BEIR)", run_score)
    verb.add_argument("--qrels", type=path_of, required=True, metavar="FILE", help="qrels, TREC or BEIR layout")
    verb.add_argument("--run", type=path_of, required=True, metavar="FILE", help="a TREC run")
    verb.add_argument(
        "--measure", action="append", required=True, metavar="M", help="nDCG@10, RR(rel=2)@5, R@100, …; may be repeated"
    )
    add_sections(verb)
    add_json(verb)


def run_score(options: argparse.Namespace) -> int:
    """Print each measure with its interval and n."""
    from ragassay.evaluate.from_files.score import missing_queries, score_files

    figures = score_files(options.qrels, options.run, options.measure, sections=options.sections)
    if options.json:
        print_json({name: figure.dump() for name, figure in figures.items()})
        return 0
    print_figures(figures, interval_digits=".4g")
    if missing := missing_queries(options.qrels, options.run):
        print(f"note: queries of the qrels that the run lacks, each scored 0: {missing:,}")
    return 0
