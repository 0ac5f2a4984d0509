"""`ragassay run CORPUS`: every stage that is not up to date."""

from __future__ import annotations

import argparse

from ..options import Verbs, add_experiment, add_others, add_verb


def add_run(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "run every stage whose inputs or settings changed, and print the ranked table"
    verb = add_verb(verbs, "run", help_text, run_run)
    add_experiment(verb)
    add_others(verb)


def run_run(options: argparse.Namespace) -> int:
    """The gravest exit status of the stages."""
    from ..pipeline.runner import run_all

    return run_all(options)
