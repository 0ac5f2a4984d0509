"""`ragassay judges`: the evaluators that there are."""

from __future__ import annotations

import argparse

from ..options import Verbs, add_verb


def add(verbs: Verbs) -> None:
    """The verb; it has no options."""
    add_verb(verbs, "judges", "list the evaluators that there are", run)


def run(options: argparse.Namespace) -> int:
    """Print every evaluator by family: name, what it judges, its scale, what it needs."""
    del options
    from itertools import groupby
    from textwrap import fill

    from ragassay.evaluate.judging.catalog import BUILT_IN
    from ragassay.evaluate.judging.engine.judge import Setup

    for family, kinds in groupby(BUILT_IN.values(), lambda kind: kind.family):
        print(f"{family}")
        for kind in kinds:
            criteria = kind(Setup("openai:none")).criteria
            scale = f"{criteria[0].lowest:g} to {criteria[0].highest:g}"
            needs = f", needs {', '.join(kind.needs)}" if kind.needs else ""
            print(f"  {kind.name}: of each {kind.unit}, {scale}{needs}")
            print(fill(kind.about, 88, initial_indent="    ", subsequent_indent="    "))
            if len(criteria) > 1:
                given = f"gives {', '.join(criterion.name for criterion in criteria)}"
                print(fill(given, 88, initial_indent="    ", subsequent_indent="    "))
    return 0
