"""What the models delivered of what was asked, and the ledger of what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragassay.records import LedgerRow, Query, Rejected, WrittenRole

from .reject import Candidate


class Delivered(NamedTuple):
    """One reply with questions: how many were asked for, and how many it has; None where there is no reply."""

    model: str
    doc: str
    asked: int
    written: int | None


class Calls(NamedTuple):
    """Calls to one model: how many, and the errors of those that gave no reply."""

    model: str
    n: int
    errors: tuple[str, ...]


@dataclass(frozen=True)
class Written:
    """What came of asking all models: every question, what each reply delivered, which calls failed.

    notices: sentences for the user. roles: those that a model gave, where it was asked for them.
    """

    candidates: Sequence[Candidate] = ()
    delivered: Sequence[Delivered] = ()
    calls: Sequence[Calls] = ()
    notices: Sequence[str] = ()
    roles: Sequence[WrittenRole] = ()


def ledger(
    delivered: Sequence[Delivered], kept: Sequence[Query], rejected: Sequence[Rejected], sampled: Sequence[Query]
) -> list[LedgerRow]:
    """A row for each model and each document that it was asked about, in the order of what was delivered."""
    n_kept, n_rejected, n_sampled = _tally(kept), _tally(rejected), _tally(sampled)
    return [
        LedgerRow(
            model=place[0],
            doc=place[1],
            kept=n_kept[place],
            rejected=n_rejected[place],
            sampled=n_sampled[place],
            **_counts([one for one in delivered if one[:2] == place]),
        )
        for place in dict.fromkeys(one[:2] for one in delivered)
    ]


def _counts(replies: Sequence[Delivered]) -> dict[str, int]:
    got = [(one.asked, one.written) for one in replies if one.written is not None]
    return {
        "asked": sum(one.asked for one in replies),
        "written": sum(written for _, written in got),
        "failed": sum(one.asked for one in replies if one.written is None),
        "unwritten": sum(max(asked - written, 0) for asked, written in got),
        "extra": sum(max(written - asked, 0) for asked, written in got),
    }


def _tally(records: Sequence[Query] | Sequence[Rejected]) -> Counter[tuple[str, str]]:
    return Counter((record.metadata["model"], record.metadata["doc"]) for record in records)
