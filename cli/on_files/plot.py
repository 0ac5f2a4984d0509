"""`ragassay plot`: box plots of one run or several side by side."""

from __future__ import annotations

import argparse

from ..options import Verbs, add_verb, path_of


def add_plot(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(verbs, "plot", "draw box plots of every measure, of one run or several side by side", run_plot)
    verb.add_argument("figures", type=path_of, nargs="+", metavar="RESULTS", help="results.json, or its folder")
    verb.add_argument("--out", type=path_of, required=True, metavar="HTML", help="the page to write")
    verb.add_argument("--measure", action="append", metavar="M", help="only these, may be repeated; default: all")


def run_plot(options: argparse.Namespace) -> int:
    """Write the page."""
    from ragassay.evaluate.report.box_plots import page, read_runs
    from ragassay.files import write_text

    runs = read_runs(options.figures)
    write_text(options.out, page(runs, options.measure or ()))
    print(f"{options.out}: {len(runs)} {'run' if len(runs) == 1 else 'runs'}")
    return 0
