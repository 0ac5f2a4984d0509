"""`ragassay agree-systems`: whether two sets of labels put systems in the same order."""

from __future__ import annotations

import argparse

from ragassay.errors import InputError

from ..options import Verbs, add_draws, add_json, add_verb, check_least, path_of, two_qrels
from ..printing import print_agreement, print_json, print_notes, print_p, print_table


def add(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "say whether two sets of labels put systems in the same order: tau-b and Spearman's rho"
    verb = add_verb(verbs, "agree-systems", help_text, run)
    verb.add_argument("--qrels", action="append", type=path_of, metavar="FILE", help="qrels, TREC or BEIR; given twice")
    verb.add_argument("--runs", type=path_of, metavar="DIR", help="a folder of TREC runs, one a system")
    verb.add_argument("--measure", metavar="M", help="nDCG@10, RR(rel=2)@5, …")
    verb.add_argument("--scores", type=path_of, metavar="FILE", help="instead: a table of system, score, score")
    add_draws(verb)
    add_json(verb)


def run(options: argparse.Namespace) -> int:
    """Print how far two sets of labels, or two columns of scores, put systems in the same order."""
    from ragassay.evaluate.agreement.systems import agree_on_runs, agree_on_scores

    check_least(options, bootstrap=100, seed=0)
    if options.scores:
        if options.qrels or options.runs or options.measure:
            raise InputError("--scores goes without --qrels, --runs and --measure")
        found = agree_on_scores(options.scores)
    else:
        if not (options.qrels and options.runs and options.measure):
            raise InputError("needs --qrels twice, --runs DIR and --measure M, or --scores FILE")
        first, second = two_qrels(options)
        found = agree_on_runs(
            first, second, options.runs, options.measure, bootstrap=options.bootstrap, seed=options.seed
        )
    if options.json:
        print_json(found.dump())
        return 0
    rows = [(name, f"{a:.4f}", f"{b:.4f}") for name, (a, b) in found.scores.items()]
    print_table(found.measure or "scores", ("", found.first, found.second), rows)
    print_agreement("order of the systems", found.figures, found.undefined)
    print_p(found.p, "systems taken as drawn one by one")
    print_notes(found.notes)
    return 0
