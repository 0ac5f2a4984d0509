"""A question on its way from the need to the pool, and how its steps are asked of the models."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragassay.calls.caller import Caller
from ragassay.digests import digest_bytes
from ragassay.models.requests import Batch, Reply, Request
from ragassay.records import Section

from .reject import Candidate, writable
from .slots import LOOSE, UNANSWERABLE, Slot


@dataclass(frozen=True)
class Draft:
    """What is known so far of one question; `fault` says why it goes no further.

    slot: None where the reply had a number that nobody asked for. position: from 0 within the model and its first
    section, beyond those of all slots where there is no slot.
    """

    model: str
    sections: tuple[Section, ...]
    position: int
    slot: Slot | None
    need: str
    question: str
    fault: str | None = None
    evidence: tuple[Mapping[str, Any], ...] = ()
    holds: str | None = None
    answer: str = ""

    @property
    def kind(self) -> str:
        """The kind that was asked for; "" where none was."""
        return self.slot.kind if self.slot else ""

    def candidate(self, *, statements: bool) -> Candidate:
        """What is sifted. statements: whether any question may be without the form of one, as experts' are."""
        return Candidate(
            self.question or self.need,
            self.model,
            self.sections[0],
            self.position,
            self.answer,
            fault=self.fault,
            statement=statements or self.kind in LOOSE,
            details=self._details(),
        )

    def _details(self) -> dict[str, Any]:
        docs = list(dict.fromkeys(section.doc for section in self.sections))
        several = {"sections": [section.id for section in self.sections]} if len(self.sections) > 1 else {}
        expected = {"expected_docs": []} if self.kind == UNANSWERABLE else {"expected_docs": docs} if docs[1:] else {}
        drawn = {"kind": self.slot.kind, "blind": self.slot.blind} if self.slot else {}
        role = {"role": self.slot.role} if self.slot and self.slot.role else {}
        evidence = {"evidence": [dict(span) for span in self.evidence]} if self.evidence else {}
        held = {"holds": self.holds} if self.holds else {}
        return {**several, **expected, **drawn, **role, "need": writable(self.need), **held, **evidence}


class Asked(NamedTuple):
    """A request of one step to one model."""

    step: str
    model: str
    request: Request


def ask(caller: Caller, asked: Sequence[Asked], models: Sequence[str]) -> list[Reply]:
    """A reply to each, in their order; the requests of one step to one model are a batch, `STEP-MODEL`."""
    if not asked:
        return []
    steps = list(dict.fromkeys(one.step for one in asked))
    groups = [(step, model) for step in steps for model in models if any(one[:2] == (step, model) for one in asked)]
    batches = [
        Batch(labels(models, step)[model], model, tuple(one.request for one in asked if one[:2] == (step, model)))
        for step, model in groups
    ]
    replies = {group: iter(row) for group, row in zip(groups, caller.ask(batches), strict=True)}
    return [next(replies[one.step, one.model]) for one in asked]


def labels(models: Iterable[str], step: str) -> dict[str, str]:
    """Model to `STEP-NAME`, what request files of a step are called: each model has files of its own.

    Where two names would come out alike in a file system, a digest stands behind them.
    """
    named = {model: f"{step}-" + re.sub(r"[^A-Za-z0-9._-]+", "-", model) for model in models}
    often = Counter(label.casefold() for label in named.values())
    return {
        model: label if often[label.casefold()] == 1 else f"{label}-{digest_bytes(model.encode())[:8]}"
        for model, label in named.items()
    }
