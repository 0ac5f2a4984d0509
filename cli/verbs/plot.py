"""`ragassay plot`: box plots of one run or several side by side."""

from __future__ import annotations

import argparse


def plot(options: argparse.Namespace) -> int:
    """Write the page."""
    from ragassay.evaluate.report.box_plots import page, read_runs
    from ragassay.files import write_text

    runs = read_runs(options.figures)
    write_text(options.out, page(runs, options.measure or ()))
    print(f"{options.out}: {len(runs)} {'run' if len(runs) == 1 else 'runs'}")
    return 0
