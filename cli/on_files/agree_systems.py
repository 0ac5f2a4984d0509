"""`ragassay agree-systems`: whether two sets of labels put systems in the same order."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragassay.errors import InputError

from ..options import Verbs, add_draws, add_json, add_sections, add_verb, check_least, path_of, two_qrels
from ..printing import print_agreement, print_json, print_notes, print_p, print_table, print_undefined, value_of

if TYPE_CHECKING:
    from ragassay.evaluate.agreement.systems import SystemsAgreement


def add_agree_systems(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "say whether two sets of labels put systems in the same order: tau-b and Spearman's rho"
    verb = add_verb(verbs, "agree-systems", help_text, run_agree_systems)
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
    rows = [(name, str(len(each.scores)), *_cells(each, names)) for name, each in found.items()]
    print_table("order of the systems", header, rows)
    for name, each in found.items():
        print_undefined({f"{options.by} {name}: {figure}": why for figure, why in each.undefined.items()})
    print_notes(list(dict.fromkeys(note for each in found.values() for note in each.notes)))
    return 0


def _cells(found: SystemsAgreement, names: Sequence[str]) -> list[str]:
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
