"""`ragassay judges`: the evaluators that there are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..options import Verbs, add_json, add_verb

if TYPE_CHECKING:
    from ragassay.evaluate.judging.listed import Listed


def add_judges(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(verbs, "judges", "list the evaluators that there are", run_judges)
    add_json(verb)
    verb.add_argument("--tags", action="store_true", help="print which bear on what of NIST AI RMF and SR 11-7 instead")
    verb.add_argument("--markdown", action="store_true", help="print the tables of docs/evaluators.md instead")


def run_judges(options: argparse.Namespace) -> int:
    """Print every evaluator by family: what it judges and reads, its scales, whom it asks, its source."""
    from ragassay.evaluate.judging.listed import coverage, listed_judges, markdown_coverage, markdown_list

    from ..printing import print_json

    judges = listed_judges()
    if options.markdown:
        print(markdown_coverage(judges) if options.tags else markdown_list(judges), end="")
    elif options.json:
        print_json(coverage(judges) if options.tags else [one.dump() for one in judges])
    elif options.tags:
        _print_tags(coverage(judges))
    else:
        _print_list(judges)
    return 0


def _print_tags(found: dict[str, list[str]]) -> None:
    from ragassay.evaluate.judging.engine.tags import NIST

    from ..printing import print_table

    for framework, of_nist in (("NIST AI RMF", True), ("SR 11-7", False)):
        rows = [
            (tag, str(len(names)), ", ".join(names) or "none")
            for tag, names in found.items()
            if (tag in NIST) is of_nist
        ]
        print_table(framework, ("tag", "judges", ""), rows)


def _print_list(judges: list[Listed]) -> None:
    from itertools import groupby
    from textwrap import fill

    from ragassay.evaluate.judging.listed import asks_of, scale_of

    for family, some in groupby(judges, lambda one: one.family):
        print(family)
        for one in some:
            needs = f", needs {', '.join(one.needs)}" if one.needs else ""
            scale = f"{one.criteria[0].lowest:g} and up" if one.criteria[0].highest is None else ""
            scale = scale or f"{one.criteria[0].lowest:g} to {one.criteria[0].highest:g}"
            print(f"  {one.name}: of each {one.of}, {scale}{needs}")
            lines = [one.about] if one.about else []
            scales = dict.fromkeys(scale_of(criterion) for criterion in one.criteria)
            if len(one.criteria) > 1:
                lines.append(f"gives {', '.join(criterion.name for criterion in one.criteria)}")
            lines.append("; ".join(scales))
            lines.append(f"reads {', '.join(one.reads) or 'what it says'}; asks {asks_of(one)}")
            lines += [f"source: {one.source}"] if one.source else []
            for line in lines:
                print(fill(line, 88, initial_indent="    ", subsequent_indent="    "))
