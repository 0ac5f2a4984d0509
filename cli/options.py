"""What the options of several verbs share. Nothing heavy is imported here."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from ragassay.errors import InputError
from ragassay.experiment.addresses import Address, address

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""Where a verb adds itself."""

STATUS = (
    "exit status: 0 done; 1 done, but the test set is smaller than asked for; 2 some input cannot be used (a "
    "sentence says which); 3 replies of a file: model are awaited; 4 the cost limit is reached; 5 done, but some of "
    "the input was left out, such as a PDF that cannot be read; 6 every call of a stage failed, or no question is left"
)


def actions(parser: argparse.ArgumentParser, verb: str | None = None) -> Iterator[argparse.Action]:
    """Every option and argument, those of the verbs included, or of the one that is named."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                if verb in {None, name}:
                    yield from actions(below)


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


def add_verb(
    verbs: Verbs, name: str, help_text: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """A verb with its help, and `run` as its handler."""
    sentence = help_text[0].upper() + help_text[1:] + "."
    verb = verbs.add_parser(name, help=help_text, description=sentence, epilog=STATUS)
    verb.set_defaults(handler=run)
    return verb


def add_corpus(verb: argparse.ArgumentParser, *, needed: bool = True) -> None:
    """CORPUS and --results."""
    verb.add_argument(
        "corpus",
        type=folder_of,
        nargs=None if needed else "?",
        metavar="CORPUS",
        help="the folder with the documents and experiment.toml, or its address (s3://…)",
    )
    add_results(verb)


def add_results(verb: argparse.ArgumentParser, default: str = "results/ + CORPUS's name") -> None:
    """--results; `default` is what its help says of leaving it out."""
    verb.add_argument("--results", type=folder_of, metavar="DIR", help=f"where to write (default: {default})")


def add_experiment(verb: argparse.ArgumentParser, *, needs_corpus: bool = True) -> None:
    """CORPUS, --results, and how its stages are run."""
    add_corpus(verb, needed=needs_corpus)
    add_stage_options(verb)


def add_stage_options(verb: argparse.ArgumentParser) -> None:
    """How stages are run."""
    verb.add_argument("--max-cost", type=float, metavar="USD", help="stop before spending more than this")
    verb.add_argument("--model", metavar="MODEL", help="use this model (provider:name) for everything")
    verb.add_argument("--ignore-recorded", action="store_true", help="ask anew what CORPUS/replies has on record")
    verb.add_argument("--retry-failed", action="store_true", help="ask again where a provider failed last time")


def add_others(verb: argparse.ArgumentParser) -> None:
    """--with."""
    verb.add_argument(
        "--with",
        dest="others",
        type=path_of,
        action="append",
        default=[],
        metavar="RESULTS",
        help="agents of this results folder, over the same queries, take part too; may be repeated",
    )


def add_json(verb: argparse._ActionsContainer) -> None:
    """--json."""
    verb.add_argument("--json", action="store_true", help="print JSON")


def add_sections(verb: argparse.ArgumentParser) -> None:
    """--sections, for intervals over queries that belong together."""
    verb.add_argument(
        "--sections",
        type=path_of,
        metavar="QUERIES",
        help="BEIR's queries.jsonl with metadata.section: queries of one section are taken together in every interval "
        "(default: each stands alone)",
    )


def add_draws(verb: argparse.ArgumentParser) -> None:
    """--bootstrap and --seed."""
    verb.add_argument("--bootstrap", type=int, default=1000, metavar="N", help="replicates; default: 1000")
    verb.add_argument("--seed", type=int, default=7, metavar="N", help="default: 7")


def check_least(options: argparse.Namespace, **least: int) -> None:
    """Raises InputError where one of the options is below its least value."""
    for name, lowest in least.items():
        if (given := getattr(options, name)) < lowest:
            raise InputError(f"--{name} is {given}, it must be at least {lowest}")


def two_qrels(options: argparse.Namespace) -> tuple[Path, Path]:
    """The files of --qrels. Raises InputError where they are not two."""
    if len(options.qrels) != 2:
        raise InputError(f"--qrels is given {len(options.qrels)} times, two sets of labels are compared")
    first, second = options.qrels
    return first, second
