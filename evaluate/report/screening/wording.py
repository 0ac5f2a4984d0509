"""How the screening's figures are worded: measures, latency, the size of an index, levels of settings."""

from __future__ import annotations

from ragassay.text import one_line

from ...screening.records import ScreenResults
from ..wording import MISSING

AT_TOKENS = "_at_tokens"
MEASURES = {
    "evidence_recall": ("recall", "share of the evidence's characters that were handed over"),
    "evidence_ndcg": ("nDCG", "how early new evidence comes, 1 for the best order of the passages found"),
    "evidence_precision": ("precision", "share of the characters handed over that are evidence"),
    "evidence_iou": ("IoU", "evidence that was handed over, of all that is evidence or was handed over"),
    "evidence_mrr": ("MRR", "mean of 1 / rank of the first passage that holds a whole piece of evidence"),
}
"""Of each measure of evidence, what it is called and what it means."""


def measure_words(measure: str, results: ScreenResults) -> str:
    """`evidence recall`, `evidence recall at 1,500 tokens`."""
    bare = measure.removesuffix(AT_TOKENS)
    name = f"evidence {MEASURES[bare][0]}" if bare in MEASURES else one_line(measure)
    return f"{name} {at_words(results)}" if measure.endswith(AT_TOKENS) else name


def at_words(results: ScreenResults) -> str:
    """`at 1,500 tokens`, where chunkings meet."""
    return f"at {results.context_tokens:,} tokens" if results.context_tokens else "at equal context"


def duration(seconds: float | None) -> str:
    """In two digits or more: `0.42 ms`, `12 ms`, `1.3 s`."""
    if seconds is None:
        return MISSING
    if seconds >= 0.9995:
        return f"{seconds:,.1f} s"
    thousandths = seconds * 1000
    return f"{thousandths:.{0 if thousandths >= 9.95 else 1 if thousandths >= 0.995 else 2}f} ms"


def size(n_bytes: int | None) -> str:
    """`3.1 MB`, in powers of ten."""
    if n_bytes is None:
        return MISSING
    if n_bytes < 1000:
        return f"{n_bytes} B"
    power, unit = next(each for each in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")) if n_bytes >= each[0] * 0.9995)
    return f"{n_bytes / power:,.1f} {unit}"


def p_words(p: float | None) -> str:
    """In three digits; a dash where it is not defined."""
    return MISSING if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def level_words(level: str | float | bool | None) -> str:
    """A value of a setting."""
    return "none" if level is None else one_line(str(level))
