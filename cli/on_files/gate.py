"""`ragassay gate`: is a new run worse than a baseline? For CI."""

from __future__ import annotations

import argparse

from ..options import Verbs, add_verb, path_of


def add_gate(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(verbs, "gate", "say whether a run is worse than a baseline over the same queries, for CI", run_gate)
    verb.epilog = "exit status: 0 not worse; 1 worse beyond noise and --max-drop; 3 undecided; 2 bad input"
    verb.add_argument("new", type=path_of, metavar="NEW", help="the results folder to judge")
    verb.add_argument("--baseline", type=path_of, required=True, metavar="OLD", help="the results folder to hold it to")
    verb.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="M",
        help="RR(rel=2)@5, accuracy, an evaluator's criterion, …; may be repeated",
    )
    verb.add_argument("--agent", action="append", default=[], metavar="NAME", help="default: all that both runs have")
    verb.add_argument(
        "--max-drop",
        type=float,
        metavar="DROP",
        help="tolerated, in the measure's own unit: 0.02 is 0.02 of MRR, and 0.02 of a label from 0 to 2; "
        "default: 2%% of each measure's range, if these queries can show so little",
    )
    verb.add_argument("--markdown", type=path_of, metavar="FILE", help="also write the summary here")


def run_gate(options: argparse.Namespace) -> int:
    """Print a Markdown summary. 0: not worse; 1: worse; 3: undecided."""
    from ragassay.evaluate.from_files.gate import EXIT_STATUS, gate
    from ragassay.evaluate.from_files.gate_summary import markdown
    from ragassay.files import write_text

    result = gate(
        options.new, options.baseline, measures=options.measure, agents=options.agent, max_drop=options.max_drop
    )
    summary = markdown(result)
    if options.markdown is not None:
        write_text(options.markdown, summary)
    print(summary, end="")
    return EXIT_STATUS[result.verdict]
