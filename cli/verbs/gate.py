"""`ragassay gate`: is a new run worse than a baseline? For CI."""

from __future__ import annotations

import argparse


def gate(options: argparse.Namespace) -> int:
    """Print a Markdown summary. 0: not worse; 1: worse; 3: undecided."""
    from ragassay.evaluate.from_files.gate import EXIT_STATUS
    from ragassay.evaluate.from_files.gate import gate as compare_runs
    from ragassay.evaluate.from_files.gate_summary import markdown
    from ragassay.files import write_text

    result = compare_runs(
        options.new, options.baseline, measures=options.measure, agents=options.agent, max_drop=options.max_drop
    )
    summary = markdown(result)
    if options.markdown is not None:
        write_text(options.markdown, summary)
    print(summary, end="")
    return EXIT_STATUS[result.verdict]
