"""`ragassay doctor [CORPUS]`: what is installed and at hand, and a sentence on the mend of what is not."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

from ..options import Verbs, add_corpus, add_json, add_verb

if TYPE_CHECKING:
    from ..pipeline.checkup import Check


def add_doctor(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "say what is installed and at hand, for a corpus what its run would lack, and how to mend it"
    verb = add_verb(verbs, "doctor", help_text, run_doctor)
    add_corpus(verb, needed=False)
    add_json(verb)


def run_doctor(options: argparse.Namespace) -> int:
    """Print what was looked at, a line each; status 2 where something that is needed is missing. Calls no model."""
    from ..printing import print_json

    checks = list(_checks(options))
    if options.json:
        print_json([asdict(check) for check in checks])
    for check in [] if options.json else checks:
        print(plain(f"{check.status:7}{check.what}: {check.said}"))
    return InputError.exit_status if any(check.status == "mend" for check in checks) else os.EX_OK


def _checks(options: argparse.Namespace) -> Iterator[Check]:
    from ..pipeline.checkup import Check, check_disk, check_experiment, check_installation
    from ..pipeline.opening import open_workspace

    yield from check_installation()
    if options.corpus is None:
        yield check_disk(options.results if isinstance(options.results, Path) else Path())
        return
    try:
        workspace = open_workspace(options)
    except InputError as error:
        yield Check("experiment", "mend", str(error))
        return
    yield check_disk(workspace.results)
    yield from check_experiment(workspace)
