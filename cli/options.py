"""What the options of several verbs share. Nothing heavy is imported here."""

from __future__ import annotations

import argparse
from pathlib import Path

from ragassay.experiment.addresses import Address, address

STATUS = (
    "exit status: 0 done; 1 the test set is smaller than asked for; 2 some input cannot be used (one sentence says "
    "which); 3 replies of a file: model are awaited; 4 the cost limit is reached"
)


def path_of(text: str) -> Path:
    """A path; an empty name and an address (s3://…) are refused."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name")
    if address(text):
        raise argparse.ArgumentTypeError("an address; only an experiment's CORPUS and --results can be elsewhere")
    return Path(text)


def folder_of(text: str) -> Path | Address:
    """A path, or the address of a folder elsewhere."""
    return address(text) or path_of(text)


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
        type=folder_of,
        nargs=None if needed else "?",
        metavar="CORPUS",
        help="the folder with the PDFs and experiment.toml, or its address (s3://…)",
    )
    verb.add_argument(
        "--results", type=folder_of, metavar="DIR", help="where to write (default: results/ + CORPUS's name)"
    )
