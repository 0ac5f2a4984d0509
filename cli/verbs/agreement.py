"""`ragassay agree` and `agree-systems`: how far a judge agrees with people, on plain files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragassay.errors import InputError
from ragassay.records import Figure

if TYPE_CHECKING:
    from ragassay.evaluate.agreement.agree import PairAgreement
    from ragassay.evaluate.agreement.label_tables import Ratings

MATRIX = 15
"""Labels whose confusion matrix a terminal has room for."""


def agree(options: argparse.Namespace) -> int:
    """Print the agreement of each judge with the people, and write the plot."""
    from ragassay.evaluate.agreement.agree import agree as agreement
    from ragassay.evaluate.agreement.agree import bland_altman_plots
    from ragassay.evaluate.agreement.bland_altman import page
    from ragassay.files import write_text

    _check_draws(options)
    ratings = _ratings(options)
    found = agreement(
        ratings,
        scale=options.scale.split(",") if options.scale else (),
        relevant=options.relevant,
        bootstrap=options.bootstrap,
        seed=options.seed,
    )
    plot = page(bland_altman_plots(ratings, found)) if options.plot else None
    if options.json:
        print(_json(found.dump()))
    else:
        for pair in found.pairs:
            _print_pair(pair)
        if found.all_raters:
            _print_figures("people and judges together", found.all_raters, found.all_raters_undefined)
        _print_notes(found.notes)
    if plot is not None:
        write_text(options.plot, plot)
    return 0


def _ratings(options: argparse.Namespace) -> Ratings:
    from ragassay.evaluate.agreement.label_tables import qrels_ratings, ratings, read_labels

    qrels = options.qrels or []
    if qrels and (options.labels or options.human or options.judge or options.by):
        raise InputError("--qrels goes without --labels, --human, --judge and --by")
    if qrels:
        _check_two(qrels)
        return qrels_ratings(*qrels)
    if not (options.labels and options.human and options.judge):
        raise InputError("needs --labels FILE, --human COL and --judge COL, or --qrels twice")
    return ratings(read_labels(options.labels), [options.human, *options.judge], options.by)


def agree_systems(options: argparse.Namespace) -> int:
    """Print how far two sets of labels, or two columns of scores, put systems in the same order."""
    from ragassay.evaluate.agreement.systems import agree_on_runs, agree_on_scores

    _check_draws(options)
    if options.scores:
        if options.qrels or options.runs or options.measure:
            raise InputError("--scores goes without --qrels, --runs and --measure")
        found = agree_on_scores(options.scores)
    else:
        if not (options.qrels and options.runs and options.measure):
            raise InputError("needs --qrels twice, --runs DIR and --measure M, or --scores FILE")
        _check_two(options.qrels)
        first, second = options.qrels
        found = agree_on_runs(
            first, second, options.runs, options.measure, bootstrap=options.bootstrap, seed=options.seed
        )
    if options.json:
        print(_json(found.dump()))
        return 0
    rows = [(name, f"{a:.4f}", f"{b:.4f}") for name, (a, b) in found.scores.items()]
    _print_table(found.measure or "scores", ("", found.first, found.second), rows)
    _print_figures("order of the systems", found.figures, found.undefined)
    _print_notes(found.notes)
    return 0


def _check_two(qrels: Sequence[object]) -> None:
    if len(qrels) != 2:
        raise InputError(f"--qrels is given {len(qrels)} times, two sets of labels are compared")


def _check_draws(options: argparse.Namespace) -> None:
    if options.bootstrap < 100:
        raise InputError(f"--bootstrap is {options.bootstrap}, it must be at least 100")
    if options.seed < 0:
        raise InputError(f"--seed is {options.seed}, it must be at least 0")


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)


def _print_pair(pair: PairAgreement) -> None:
    title = f"{pair.judge} against {pair.human}: {pair.n_pairs} pairs of {pair.n_clusters} queries"
    if pair.n_missing:
        title += f", {pair.n_missing} more lack a label"
    _print_figures(title, pair.figures, pair.undefined)
    if pair.confusion is not None and len(pair.confusion.labels) > MATRIX:
        _print_lines(f"{len(pair.confusion.labels)} different labels: which met which is in --json")
    elif pair.confusion is not None:
        rows = [
            (label, *map(str, counts))
            for label, counts in zip(pair.confusion.labels, pair.confusion.counts, strict=True)
        ]
        _print_table("rows: people's label, columns: the judge's", (pair.human, *pair.confusion.labels), rows)


def _print_figures(title: str, figures: Mapping[str, Figure], undefined: Mapping[str, str]) -> None:
    rows = []
    for name, figure in figures.items():
        if figure.value is not None:
            interval = "–" if figure.ci_low is None else f"{figure.ci_low:.4f} to {figure.ci_high:.4f}"
            rows.append((name, f"{figure.value:.4f}", interval, str(figure.n)))
    _print_table(title, ("", "value", "95% interval", "n"), rows)
    for reason in dict.fromkeys(undefined.values()):
        names = ", ".join(name for name, why in undefined.items() if why == reason)
        _print_lines(f"undefined: {names}: {reason}")


def _print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ragassay.text import plain

    _print_lines(title)
    table = Table()
    for name in header:
        table.add_column(Text(plain(name)), overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    Console().print(table)


def _print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        _print_lines(f"note: {note}")


def _print_lines(text: str) -> None:
    from ragassay.text import plain

    print(plain(text))
