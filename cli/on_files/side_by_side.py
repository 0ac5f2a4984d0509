"""Several judges held against the same people: a line a judge, the best first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

from ..printing import interval_of, print_table, value_of

if TYPE_CHECKING:
    from ragassay.evaluate.agreement.agree import Agreement, PairAgreement

_WHOLE = ("kappa", "kappa(quadratic)", "off_by_one", "tau_b", "rho")
_AT_THRESHOLD = ("kappa", "balanced_accuracy", "accuracy", "tau_b")


def check_figure(found: Agreement, name: str) -> None:
    """Raises InputError where no judge has a figure of this name."""
    if not any(name in pair.figures for pair in found.pairs):
        there = ", ".join(dict.fromkeys(figure for pair in found.pairs for figure in pair.figures))
        raise InputError(f"there is no figure '{plain(name)}' to sort by", remedy=f"there are {there}")


def print_side_by_side(found: Agreement, by: str) -> None:
    """The judges by falling `by` (those without it last): over the whole scale, and at each threshold."""
    pairs = sorted(found.pairs, key=lambda pair: _place(pair, by))
    names = [name for name in dict.fromkeys((by, *_WHOLE)) if any(_value(pair, name) is not None for pair in pairs)]
    rows = [(pair.judge, *_cells(pair, by), *_values(pair, names[1:]), str(pair.n_pairs)) for pair in pairs]
    print_table(f"judges against {found.pairs[0].human}, by {by}", ("", by, "95% interval", *names[1:], "pairs"), rows)
    for label in dict.fromkeys(label for pair in pairs for label in _thresholds(pair)):
        kappa, *others = (f"{name}(rel={label})" for name in _AT_THRESHOLD)
        rows = [(pair.judge, *_cells(pair, kappa), *_values(pair, others)) for pair in pairs]
        print_table(f"relevant from {label} on", ("", _AT_THRESHOLD[0], "95% interval", *_AT_THRESHOLD[1:]), rows)
    for name, why in found.left_out.items():
        print(plain(f"left out: {name}: {why}"))


def _place(pair: PairAgreement, by: str) -> tuple[bool, float, str]:
    value = _value(pair, by)
    return value is None, -(value or 0.0), pair.judge


def _value(pair: PairAgreement, name: str) -> float | None:
    return pair.figures[name].value if name in pair.figures else None


def _cells(pair: PairAgreement, name: str) -> tuple[str, str]:
    figure = pair.figures.get(name)
    return ("–", "–") if figure is None else (value_of(figure, ".3f"), interval_of(figure, ".3f"))


def _values(pair: PairAgreement, names: Sequence[str]) -> list[str]:
    return [_cells(pair, name)[0] for name in names]


def _thresholds(pair: PairAgreement) -> list[str]:
    start, end = "kappa(rel=", ")"
    return [name.removeprefix(start).removesuffix(end) for name in pair.figures if name.startswith(start)]
