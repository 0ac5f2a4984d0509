"""Evidence that a judge quotes, held against the passages it was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator

from ragassay.records import Passage

from ..engine.reply import Reason

NOTHING_FOUND = "NOTHING FOUND"

_MARKS = "\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb"


def _some(evidence: tuple[str, ...]) -> tuple[str, ...]:
    if not evidence:
        raise ValueError(f"there is no evidence, nor {NOTHING_FOUND}")
    return evidence


Evidence = Annotated[tuple[Reason, ...], AfterValidator(_some)]
"""Quotations, or the one entry NOTHING FOUND; neither the list nor an entry is empty."""


def quotations(evidence: Sequence[str]) -> list[str]:
    """The entries that quote something, that is, are not NOTHING FOUND."""
    return [entry for entry in evidence if entry.strip(f"{_MARKS} .").casefold() != NOTHING_FOUND.casefold()]


def passage_with(quotation: str, passages: Sequence[Passage]) -> str | None:
    """The id of the first passage whose title and text hold the quotation, up to white space, case and the quotation
    marks around it; None where no passage does."""
    wanted = _bare(quotation.strip().strip(_MARKS))
    if not wanted:
        return None
    return next((one.id for one in passages if wanted in _bare(f"{one.title}\n{one.text}")), None)


def _bare(text: str) -> str:
    return "".join(text.split()).casefold()
