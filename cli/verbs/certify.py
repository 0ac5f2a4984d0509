"""`ragassay certify CORPUS`: which pairs of the screening's variants a few real and many written queries decide."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

from ..options import Verbs, add_corpus, add_json, add_verb, check_least
from ..printing import print_json, print_notes, print_table

if TYPE_CHECKING:
    from ragassay.evaluate.certificate.records import Certificate


def add(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "say which pairs of the screening's variants a few real and many written queries decide"
    verb = add_verb(verbs, "certify", help_text, run)
    add_corpus(verb)
    verb.add_argument(
        "--level",
        type=float,
        default=0.1,
        metavar="P",
        help="share of the decided pairs that may be the other way round, in expectation; default: 0.1",
    )
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="of the draws; default: 7")
    add_json(verb)


def run(options: argparse.Namespace) -> int:
    """Write `certificate.json` and print it by family."""
    from ragassay.evaluate.certificate.of_screening import certify_screening

    from ..pipeline.opening import locked, open_workspace

    check_least(options, seed=0)
    if not 0 < options.level <= 0.25:
        raise InputError(f"--level is {options.level:g}", remedy="give a share above 0 and up to 0.25")
    workspace = open_workspace(options)
    with locked(workspace):
        found = certify_screening(workspace, level=options.level, seed=options.seed)
    if options.json:
        print_json(found.dump())
        return 0
    _print(found)
    return 0


def _print(found: Certificate) -> None:
    header = ("family", "against", "pairs", "decided", "for the first", "for the second", "real queries for half")
    rows = [
        (
            plain(row.a),
            "itself" if row.a == row.b else plain(row.b),
            str(row.n_pairs),
            str(row.n_decided),
            *("–" if n is None else str(n) for n in (row.n_first, row.n_second)),
            "–" if row.more is None else f"{row.more:,} more",
        )
        for row in found.families
    ]
    print_table(f"pairs of variants by {found.measure}", header, rows)
    print_notes([*found.said, *(row.sentence for row in found.families)])
