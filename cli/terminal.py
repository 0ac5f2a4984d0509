"""What several verbs print: figures in tables, notes, JSON."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ragassay.errors import InputError
from ragassay.text import plain

STATUS = """\
exit status
  0  done
  1  done, but the test set is smaller than asked for
  2  some input cannot be used (a sentence says which)
  3  replies of a file: model are awaited
  4  the cost limit is reached
  5  done, but some of the input was left out, such as a PDF that cannot be read
  6  every call of a stage failed, or no question is left"""
EXITS = "exit status: see `ragassay help exits`"


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
    from ragassay.experiment.mirror import address

    if not text:
        raise argparse.ArgumentTypeError("an empty name")
    if address(text):
        raise argparse.ArgumentTypeError("an address; only an experiment's CORPUS and --results can be elsewhere")
    return Path(text)


def folder_of(text: str) -> Path | Address:
    """A path, or the address of a folder elsewhere."""
    from ragassay.experiment.mirror import address

    return address(text) or path_of(text)


def add(verb: argparse._ActionsContainer, name: str, said: str = "", **more: Any) -> None:
    """An option or argument: `--name METAVAR`, what help says of it, and what argparse takes besides.

    The default is added to what help says, unless that has the word already.
    """
    name, _, metavar = name.partition(" ")
    if (default := more.get("default")) not in (None, []) and "default" not in said:
        told = default if isinstance(default, str) else f"{default:g}"
        said = f"{said}; default: {told}" if said else f"default: {told}"
    if metavar:
        more["metavar"] = metavar
    verb.add_argument(name, help=said, **more)


_SHARED: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "CORPUS": (
        "corpus CORPUS",
        "the folder with the documents and experiment.toml, or its address (s3://…)",
        {"type": folder_of},
    ),
    "--results": ("--results DIR", "where to write (default: results/ + CORPUS's name)", {"type": folder_of}),
    "--max-cost": ("--max-cost USD", "stop before spending more than this", {"type": float}),
    "--until": (
        "--until",
        "ask in batches, and no more once one is told the best, or no other is better by run.margin",
        {"choices": ("best", "good-enough")},
    ),
    "--model": ("--model MODEL", "use this model (provider:name) for everything", {}),
    "--ignore-recorded": ("--ignore-recorded", "ask anew what CORPUS/replies has on record", {"action": "store_true"}),
    "--retry-failed": ("--retry-failed", "ask again where a provider failed last time", {"action": "store_true"}),
    "--with": (
        "--with RESULTS",
        "agents of this results folder, over the same queries, take part too; may be repeated",
        {"dest": "others", "type": path_of, "action": "append", "default": []},
    ),
    "--base-url": ("--base-url URL", "the address of --model, if not its provider's", {}),
    "--mode": ("--mode", "how the model is asked", {"choices": ["auto", "label", "probability"]}),
    "--by": ("--by COL", "the column that names the query; default: query_id, if it is there", {}),
    "--url": ("--url URL", "of the server, comma between nodes; default: OPENSEARCH_URL", {}),
    "--aws-region": ("--aws-region REGION", "sign requests for AWS (SigV4)", {}),
    "--sections": (
        "--sections QUERIES",
        "BEIR's queries.jsonl with metadata.section: queries of one section are taken together in every interval "
        "(default: each stands alone)",
        {"type": path_of},
    ),
    "--bootstrap": ("--bootstrap N", "replicates", {"type": int, "default": 1000}),
    "--seed": ("--seed N", "", {"type": int, "default": 7}),
    "--json": ("--json", "print JSON", {"action": "store_true"}),
    "--junit": ("--junit FILE", "also write the verdicts here, as JUnit's XML", {"type": path_of}),
}
"""What several verbs have: as `add` takes it."""
STAGE = ("--max-cost", "--until", "--model", "--ignore-recorded", "--retry-failed")
EXPERIMENT = ("CORPUS", "--results", *STAGE)


def add_shared(verb: argparse._ActionsContainer, *names: str) -> None:
    """Options and arguments that several verbs have, by their names; `[CORPUS]` need not be given."""
    for name in names:
        spelt, said, more = _SHARED[name.strip("[]")]
        add(verb, spelt, said, **more, **({"nargs": "?"} if name.startswith("[") else {}))


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


if TYPE_CHECKING:
    from ragassay.experiment.mirror import Address
    from ragassay.records import Figure


def write_junit(path: Path, suite: str, cases: Sequence[tuple[str, str, str, str]]) -> None:
    """A test case for each (of what, name, outcome, what is said); outcome: "passed", "failure" or "skipped".

    As CI systems read it (https://github.com/testmoapp/junitxml); what XML cannot hold is made visible.
    """
    from xml.etree import ElementTree

    from ragassay.files import write_text

    n = Counter(outcome for _, _, outcome, _ in cases)
    counts = {"tests": str(len(cases)), "failures": str(n["failure"]), "skipped": str(n["skipped"]), "errors": "0"}
    top = ElementTree.Element("testsuites")
    whole = ElementTree.SubElement(top, "testsuite", {"name": suite, **counts})
    for kind, name, outcome, said in cases:
        case = ElementTree.SubElement(whole, "testcase", {"classname": plain(kind), "name": plain(name)})
        if outcome != "passed":
            ElementTree.SubElement(case, outcome, {"message": plain(said)})
    write_text(path, ElementTree.tostring(top, encoding="unicode", xml_declaration=True) + "\n")


def print_json(value: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
    """One object, or several; what is not finite has no place in it."""
    print(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def value_of(figure: Figure | None, digits: str = ".4f") -> str:
    """The value, or a dash where there is none."""
    return "–" if figure is None or figure.value is None else f"{figure.value:{digits}}"


def interval_of(figure: Figure | None, digits: str = ".4f") -> str:
    """The 95% interval, or a dash where there is none."""
    return "–" if figure is None or figure.ci_low is None else f"{figure.ci_low:{digits}} to {figure.ci_high:{digits}}"


def print_rows(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    without_rows: str = "there is nothing to show",
    right: Sequence[int] = (),
) -> None:
    """Print a table of which nothing is cut off (`Table.print`).

    A column of numbers stands right, and so do those that `right` counts. A table without a row is a sentence,
    `without_rows`.
    """
    from ragassay.table import NUMBER, Column, Table

    shown = list(rows)
    first = all(NUMBER.fullmatch(row[0]) for row in shown)
    columns = [Column(name, numbers=at in right or (first and not at)) for at, name in enumerate(header)]
    if shown or without_rows:
        Table("", columns, shown).print(without_rows)


def shown_figure(figure: Figure, digits: str = ".4f", interval_digits: str = "") -> list[str]:
    """Its value, interval, n and n_failed, each as a cell."""
    interval = interval_of(figure, interval_digits or digits)
    return [value_of(figure, digits), interval, str(figure.n), str(figure.n_failed)]


def print_figures(
    figures: Mapping[str, Figure],
    title: str = "",
    more: Mapping[str, Mapping[str, str]] | None = None,
    *,
    interval_digits: str = ".4f",
) -> None:
    """A table with n and n_failed of each figure, and the columns `more` by the figures' names."""
    columns = more or {}
    rows = [
        (name, *shown_figure(one, ".4f", interval_digits), *(column.get(name, "–") for column in columns.values()))
        for name, one in figures.items()
    ]
    header = (title, "value", "95% interval", "n", "failed", *columns)
    print_rows(header, rows, plain(f"{title or 'figures'}: none can be computed"))


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table under a line of its own, and an empty line after it; names as long as they are."""
    print(plain(title))
    print_rows(header, rows)
    if rows:
        print()


def print_agreement(title: str, figures: Mapping[str, Figure], undefined: Mapping[str, str]) -> None:
    """A table of the figures that have a value, and why the others have none."""
    defined = {name: figure for name, figure in figures.items() if figure.value is not None}
    rows = [(name, value_of(figure), interval_of(figure), str(figure.n)) for name, figure in defined.items()]
    if rows:
        print_table(title, ("", "value", "95% interval", "n"), rows)
    else:
        print(plain(f"{title}: no figure is defined"))
    print_undefined(undefined)


def print_p(p: Mapping[str, float], assuming: str) -> None:
    """A line with the p-values of the rank correlations, under what is assumed, and of the t-test of the bias."""
    if ranks := ", ".join(f"{name} {p[name]:.2g}" for name in ("tau_b", "rho") if name in p):
        print(f"p ({assuming}): {ranks}")
    if "bias" in p:
        print(f"p of the bias (paired t-test, by query or section): {p['bias']:.2g}")


def ranks_by(n_clusters: int, n_pairs: int, clusters: str = "queries") -> str:
    """What the p of a rank correlation rests on, for `print_p`."""
    return "pairs taken as independent" if n_clusters == n_pairs else f"whole {clusters} permuted"


def print_undefined(undefined: Mapping[str, str]) -> None:
    """A line for each reason, with the names of the figures that it holds for."""
    for reason in dict.fromkeys(undefined.values()):
        names = ", ".join(name for name, why in undefined.items() if why == reason)
        print(plain(f"undefined: {names}: {reason}"))


def print_notes(notes: Iterable[str], file: TextIO | None = None) -> None:
    """A line a note; on stdout, if no file is named."""
    for note in notes:
        print(plain(f"note: {note}"), file=file)
