"""What the options of several verbs share. Nothing is imported here but argparse."""

from __future__ import annotations

import argparse
from pathlib import Path

STATUS = (
    "exit status: 0 done; 1 the test set is smaller than asked for; 2 some input cannot be used (one sentence says "
    "which); 3 replies of a file: model are awaited; 4 the cost limit is reached"
)


def path_of(text: str) -> Path:
    """A path; an empty name is refused."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name")
    return Path(text)


def add_verb(verbs, name: str, help_text: str, handler: str) -> argparse.ArgumentParser:  # type: ignore[no-untyped-def]
    """A verb with its help and handler, "module:function"."""
    sentence = help_text[0].upper() + help_text[1:] + "."
    verb: argparse.ArgumentParser = verbs.add_parser(name, help=help_text, description=sentence, epilog=STATUS)
    verb.set_defaults(handler=handler)
    return verb


def add_corpus(verb: argparse.ArgumentParser, *, needed: bool = True) -> None:
    """CORPUS and --results."""
    verb.add_argument(
        "corpus",
        type=path_of,
        nargs=None if needed else "?",
        metavar="CORPUS",
        help="the folder with the PDFs and experiment.toml",
    )
    verb.add_argument(
        "--results", type=path_of, metavar="DIR", help="where to write (default: results/ + CORPUS's name)"
    )
