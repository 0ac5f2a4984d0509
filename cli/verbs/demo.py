"""`ragassay demo`: the recorded run of the corpus that comes with the package."""

from __future__ import annotations

import argparse
from importlib.resources import files
from pathlib import Path

from ..options import Verbs, add_results, add_stage_options, add_verb


def add_demo(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "run every stage on the manual that comes along, answered from a recorded run: no key, no network"
    verb = add_verb(verbs, "demo", help_text, run_demo)
    add_results(verb, default="results/avr-libc")
    add_stage_options(verb)


def run_demo(options: argparse.Namespace) -> int:
    """As `ragassay run`; nothing is written beside the corpus, which may lie where only an administrator writes."""
    from ..pipeline.runner import run_all

    options.corpus = Path(str(files("ragassay"))) / "corpora" / "avr-libc"
    return run_all(options)
