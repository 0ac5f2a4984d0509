"""The command line: the verbs in the order of `ragassay --help`. Nothing heavy is imported here."""

from __future__ import annotations

import argparse
import re
from typing import Any, NoReturn

from ragassay.text import did_you_mean

from .on_files import (
    agree,
    agree_systems,
    calibrate,
    check,
    consistency,
    gate,
    meta_eval,
    opensearch,
    perturb,
    plot,
    rate,
    score,
    search,
)
from .options import STATUS, actions
from .verbs import (
    archive,
    completion,
    demo,
    doctor,
    export,
    import_,
    judges,
    label_sheet,
    model,
    new,
    plan,
    replies,
    run,
    serve,
    stage,
    validity,
)

EXPERIMENT = (demo, new, run, plan, stage, validity, judges, replies, label_sheet, serve, model, doctor)
ON_FILES = (
    check,
    perturb,
    search,
    opensearch,
    score,
    rate,
    plot,
    consistency,
    gate,
    agree,
    agree_systems,
    calibrate,
    meta_eval,
)


class Parser(argparse.ArgumentParser):
    """One that says what a misspelt verb, option or choice may have been meant to be."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As of ArgumentParser; an option that is not known is held against those of the verb."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            known = [name for action in actions(self, options.verb) for name in action.option_strings]
            hints = [did_you_mean(one.partition("=")[0], known) for one in unknown if one.startswith("-")]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{_hint(''.join(hints))}")
        return options

    def error(self, message: str) -> NoReturn:
        """Usage and message on stderr, and exit status 2."""
        wrong = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        hint = did_you_mean(wrong[1], re.findall(r"[\w.-]+", wrong[2])) if wrong else ""
        super().error(message + _hint(hint))


def _hint(hint: str) -> str:
    return f"; {hint.strip()}" if hint else ""


def build_parser(version: str) -> argparse.ArgumentParser:
    """The whole command line; each verb's namespace carries its `run` as `handler`."""
    parser: argparse.ArgumentParser = Parser(
        prog="ragassay",
        description="Make a test set from PDFs, run retrieval-augmented pipelines on it, and say which answers best.",
        epilog=STATUS,
    )
    parser.add_argument("--version", action="version", version=f"ragassay {version}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", dest="verb")
    for module in (*EXPERIMENT, *ON_FILES, import_, export, archive):
        module.add(verbs)
    completion.add(verbs, parser)
    return parser
