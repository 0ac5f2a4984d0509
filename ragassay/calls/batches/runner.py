"""A model's requests through its provider's batch API: handed in, waited for, collected, and what failed asked again.

Every step is on record (a BatchLine) before the next is taken, so that a run killed at any moment collects what it has
handed in and hands in nothing twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from ...errors import BudgetSpent, InputError, ProviderError, RagassayError
from ...files import json_line
from ...models.endpoint import base_url_of, provider_of
from ...models.requests import Body, in_parts
from ...prompts import reply_tokens
from ..direct import PATIENCE, Desk
from ..register import Job, cost_of, guess_usd
from .apis import (
    AnthropicBatches,
    BatchLine,
    BatchLog,
    BatchProvider,
    Item,
    Limits,
    OpenAIBatches,
    Standing,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Wanted:
    """A request that is to be answered: its line of the request file, and what it may cost in US dollars."""

    text: str
    guess_usd: float


@dataclass
class _UnderWay:
    """A batch at the provider: the requests in it that are not settled, and what is set aside for it.

    others: ids of batches that were taken for it and were not.
    """

    line: BatchLine
    keys: set[str]
    reserved_usd: float
    done: int = 0
    failed: int = 0
    missed: int = 0
    others: set[str] = field(default_factory=set)


class BatchRunner:
    """The batches of one model at one address; each may have a thread of its own.

    A request that failed in a passing way, or expired, goes into further batches as often as the run retries.
    """

    def __init__(self, model: str, desk: Desk, log: BatchLog) -> None:
        settings = desk.register.settings(model)
        self._model, self._base_url = model, base_url_of(model, settings)
        self._desk, self._log = desk, log
        self._retries, self._poll_s = desk.register.experiment.run.retries, settings.poll_s
        api = AnthropicBatches if provider_of(model) == "anthropic" else OpenAIBatches
        self.provider: BatchProvider = api(model, settings, self._base_url)
        self._wanted: Mapping[str, Wanted] = {}
        self._pending: set[str] = set()
        self._under_way: list[_UnderWay] = []
        self._failed: dict[str, ProviderError] = {}
        self._tries = Counter[str]()
        self._limits, self._queue_full = self.provider.limits, False
        self._last: RagassayError | None = None

    def _call(self, ask: Callable[[], T]) -> T:
        return self._desk.retrier.call(self._model, ask)

    def answer(self, jobs: list[Job]) -> None:
        """Bring every job to its reply; a batch for each round, as in a direct call. Raises what `run` raises."""
        register, failed = self._desk.register, dict[str, ProviderError]()
        settings = register.settings(self._model)
        while jobs:
            wanted: dict[str, Wanted] = {}
            left = []
            for job in jobs:
                request = register.settle(job)
                key = "" if request is None else register.key(self._model, request)
                if request is not None and key not in failed:
                    text = json_line(self.provider.line(key, request, job.shared))
                    guess = guess_usd(self._model, settings, request, reply_tokens(job.label))
                    wanted[key] = Wanted(text, guess or 0.0)
                    left.append(job)
                    continue
                if request is not None:
                    register.give_up(job, failed[key])
                job.paid = True
                self._desk.finish(job)
            jobs = left
            failed = self.run(wanted) if wanted else {}

    def run(self, wanted: Mapping[str, Wanted]) -> dict[str, ProviderError]:
        """Bring a reply to every key of `wanted` into the cache; returns the error of each that could not be had.

        Raises BudgetSpent where the rest would pass the cost limit, and InputError where the user must mend something,
        both after what is under way was collected.
        """
        self._wanted, self._failed, self._tries, self._last = wanted, {}, Counter(), None
        self._adopt()
        self._pending = set(wanted) - {key for batch in self._under_way for key in batch.keys}
        while True:
            self._hand_in()
            changed = self._look()
            if not self._pending and not any(batch.keys & set(wanted) for batch in self._under_way):
                break
            if not changed and self._desk.stop.wait(self._poll_s):
                raise ProviderError("stopped while batches were under way", retryable=False)
        self._desk.progress.waiting(self._model, 0, 0, 0)
        if self._last is not None:
            raise self._last
        return self._failed

    def _adopt(self) -> None:
        """Take up the batches on record, and those that were handed in just before a kill and are not on record.

        The latest first: each then finds its own, and not one that came after it.
        """
        mine = {batch.line.name for batch in self._under_way}
        for line in reversed(self._log.open_batches(self._model, self._base_url)):
            if line.name in mine:
                continue
            keys = self._log.keys(line)
            if line.batch is None:
                found = self._call(partial(self._find, line)) if line.state == "ready" else None
                line = self._log.step(line, state="dropped" if found is None else "submitted", batch=found)
            if line.batch is not None:
                self._take_up(line, keys, handed_in=True)

    def _find(self, line: BatchLine, others: AbstractSet[str] = frozenset()) -> str | None:
        """The batch that was handed in for `line`: none of `others` nor, at this very try, of those on record."""
        return self.provider.find(line, self._log.ids() | others)

    def _take_up(self, line: BatchLine, keys: Iterable[str], *, handed_in: bool) -> None:
        reserved = sum(self._wanted[key].guess_usd for key in keys if key in self._wanted)
        if handed_in:
            self._desk.budget.reserve(reserved, line.n, handed_in=True)
        self._under_way.append(_UnderWay(line, set(keys), reserved))

    def _hand_in(self) -> None:
        """Hand in what is pending, in as many batches as the provider's limits make of it."""
        if not self._pending or (self._queue_full and self._under_way):
            return
        order = sorted(self._pending)
        total = sum(self._wanted[key].guess_usd for key in order)
        self._pending.clear()
        if self._last is not None:
            return
        try:
            self._desk.budget.reserve(total, len(order))
        except BudgetSpent as error:
            self._last = error
            return
        lines = [(key, self._wanted[key].text) for key in order]
        for part in in_parts(lines, _n_bytes, self._limits.bytes, self._limits.requests):
            keys = [key for key, _ in part]
            try:
                batch = self._created(part)
            except ProviderError as error:
                self._desk.budget.settle(sum(self._wanted[key].guess_usd for key in keys), 0.0)
                self._desk.reach.check(self._model, error, 1)
                self._failed.update(dict.fromkeys(keys, error))
            else:
                self._take_up(batch, keys, handed_in=False)

    def _created(self, part: list[tuple[str, str]]) -> BatchLine:
        """A batch that is handed in; at a second try it first looks whether the first got through without an answer."""
        log, provider, again = self._log, self.provider, False
        line = log.plan(self._model, self._base_url, part)
        file = log.requests(line.name)

        def create() -> str:
            nonlocal again
            found = self._find(line) if again else None
            again = True
            return found or provider.create(file, line)

        try:
            ready = self._call(lambda: provider.prepare(file))
            line = log.step(line, state="ready", **ready)
            batch = self._call(create)
        except RagassayError as error:
            if isinstance(error, InputError) or (isinstance(error, ProviderError) and not error.retryable):
                log.step(line, state="dropped")
            raise
        return log.step(line, state="submitted", batch=batch)

    def _look(self) -> bool:
        """Ask after every batch under way and collect those that have ended; whether any has."""
        before = len(self._under_way)
        for batch in list(self._under_way):
            try:
                self._look_at(batch)
            except ProviderError as error:  # all retries included: nothing of it is lost, so no request fails by it
                batch.missed += 1
                if batch.missed >= PATIENCE:
                    remedy = f"the batches are on record in {self._log.path}: run again to collect them"
                    raise InputError(f"{self._model} does not answer: {error}", remedy=remedy) from None
            else:
                batch.missed = 0
        left = self._under_way
        done, failed = sum(batch.done for batch in left), sum(batch.failed for batch in left)
        self._desk.progress.waiting(self._model, done, failed, sum(batch.line.n for batch in left))
        return len(left) < before and not self._queue_full

    def _look_at(self, batch: _UnderWay) -> None:
        name = str(batch.line.batch)
        standing = self._call(lambda: self.provider.standing(name))
        batch.done, batch.failed = standing.n_done, standing.n_failed
        if standing.state != batch.line.state:
            batch.line = self._log.step(batch.line, state=standing.state)
        if standing.refused is not None:
            self._refuse(batch, standing, standing.refused)
        elif standing.ended:
            self._collect(batch, standing, self._call(lambda: list(self.provider.items(name))))

    def _refuse(self, batch: _UnderWay, standing: Standing, error: RagassayError) -> None:
        """The provider took nothing of the batch: where its queue is full, wait for our others, then take less."""
        self._close(batch, "refused", 0.0)
        self._queue_full = standing.queue_full
        if standing.queue_full:
            self._limits = Limits(max(1, batch.line.n // 2), self._limits.bytes)
        alone = not self._under_way
        for key in sorted(batch.keys):
            self._set_back(key, error, counts=alone or not standing.queue_full)

    def _collect(self, batch: _UnderWay, standing: Standing, items: Iterable[Item]) -> None:
        cost, seen, others = 0.0, set[str](), 0
        for item in items:
            if item.key not in batch.keys or item.key in seen:
                others += item.key not in batch.keys
                continue
            seen.add(item.key)
            if item.body is not None:
                cost += self._keep(item.key, item.body)
            elif item.error is not None:
                self._set_back(item.key, item.error)
        self._queue_full = False
        if others and not seen:
            self._look_further(batch)
            return
        self._close(batch, "collected", cost)
        without = ProviderError(f"the batch {standing.state} without a reply", retryable=standing.state != "cancelled")
        for key in sorted(batch.keys - seen):
            self._set_back(key, without)

    def _look_further(self, batch: _UnderWay) -> None:
        """What was found in the place of ours is another's: ours may have come after it, else it is asked again."""
        batch.others.add(str(batch.line.batch))
        found = self._call(partial(self._find, batch.line, batch.others))
        if found is None:
            self._close(batch, "another's", 0.0)
            self._pending |= batch.keys & set(self._wanted)
        else:
            batch.line = self._log.step(batch.line, state="submitted", batch=found)

    def _close(self, batch: _UnderWay, state: str, cost_usd: float) -> None:
        self._under_way.remove(batch)
        self._log.step(batch.line, state=state)
        self._desk.budget.settle(batch.reserved_usd, cost_usd)

    def _keep(self, key: str, body: Body) -> float:
        """Put a reply into the cache; what it cost in US dollars, 0 where that is not known."""
        register = self._desk.register
        if register.body(key) is None:
            register.keep(key, body, None)
        return cost_of(self._model, register.settings(self._model), body) or 0.0

    def _set_back(self, key: str, error: RagassayError, *, counts: bool = True) -> None:
        """A request that got no reply: into a further batch, or given up with its error."""
        if key not in self._wanted:
            return
        if not isinstance(error, ProviderError):
            self._last = error
        elif error.retryable and self._tries[key] < self._retries:
            self._tries[key] += counts
            self._pending.add(key)
        else:
            self._failed[key] = error


def _n_bytes(line: tuple[str, str]) -> int:
    return len(line[1].encode("utf-8", "surrogatepass"))
