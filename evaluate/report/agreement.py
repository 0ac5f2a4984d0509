"""The report's table of how far judge and people agree, in words."""

from __future__ import annotations

from dataclasses import dataclass

from ragassay.text import one_line

from ..inputs.labels import GAME
from ..results import Corrections, JudgeAgreement, Results
from .wording import Shown, measure_name, shown

SHOWN = {
    "kappa": "κ",
    "kappa(quadratic)": "κ, quadratic weights",
    "krippendorff_alpha(ordinal)": "Krippendorff’s α",
    "tau_b": "τ-b",
    "rho": "ρ",
    "bias": "judge − people",
    "limit_low": "lower limit",
    "limit_high": "upper limit",
}


@dataclass(frozen=True)
class AgreementRow:
    """One criterion, by name; `figures` in the order of `SHOWN`, each with its p in words, "" where it has none."""

    criterion: str
    figures: list[tuple[Shown, str]]
    n: str


def agreement_rows(corrected: Corrections | None) -> list[AgreementRow]:
    """A row a criterion; none where nothing was labelled that the judge labelled."""
    return [_row(found) for found in (corrected.agreement if corrected else ())]


def agreement_lines(results: Results) -> list[str]:
    """Lines of plain text, for the terminal."""
    lines = []
    for found in results.corrected.agreement if results.corrected else ():
        words = shown(found.figures["kappa(quadratic)"], "mean", found.undefined.get("kappa(quadratic)", ""))
        value = f"{words.value} {words.interval}".strip()
        lines.append(f"judge and people, {_name(found.criterion)}: kappa (quadratic) {value}, {found.n_pairs:,} labels")
    return lines


def _row(found: JudgeAgreement) -> AgreementRow:
    figures = [
        (shown(found.figures[name], "mean", found.undefined.get(name, "")), _p(found.p.get(name))) for name in SHOWN
    ]
    missing = f", {found.n_missing:,} failed" if found.n_missing else ""
    return AgreementRow(_name(found.criterion), figures, f"{found.n_pairs:,}{missing}")


def _name(criterion: str) -> str:
    return "winner of a game" if criterion == GAME else one_line(measure_name(criterion))


def _p(p: float | None) -> str:
    return "" if p is None else "below 0.001" if p < 0.001 else f"{p:.3f}"
