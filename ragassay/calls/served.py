"""Calls of servers that embed or rerank: several at a time, retried, within the cost limit, each in a ledger."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..errors import InputError, ProviderError
from ..experiment.tables import ModelSettings
from ..models.providers import served_cost_usd
from ..models.servers import tokens_of
from ..records import ServerCallRow, StageUsage
from ..text import plain
from .direct import PATIENCE, Desk
from .register import known_sum
from .reply_cache import append, whole_lines


class ServerLedger:
    """The file, read when it is first asked for; for several threads."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._rows: list[ServerCallRow] | None = None

    def rows(self) -> list[ServerCallRow]:
        """Every call so far. Raises InputError, with the line, where one cannot be read."""
        with self._lock:
            return list(self._read())

    def add(self, row: ServerCallRow) -> None:
        """Append a call, on disk at once."""
        with self._lock:
            rows = self._read()
            append(self._path, row.dump())
            rows.append(row)

    def _read(self) -> list[ServerCallRow]:
        if self._rows is None:
            rows = []
            for number, line in whole_lines(self._path) if self._path.exists() else ():
                try:
                    rows.append(ServerCallRow.model_validate(json.loads(line)))
                except ValueError as error:
                    problem = f"is not a call of a server ({type(error).__name__})"
                    remedy = "remove the line; its call is then not counted"
                    raise InputError(problem, file=self._path, line=number, remedy=remedy) from None
            self._rows = rows
        return self._rows


T = TypeVar("T")

_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, IndexError)
"""What reading a reply raises where it is not what was asked for."""


@dataclass(frozen=True)
class Failed:
    """Why something could not be had, in words."""

    error: str


@dataclass(frozen=True)
class ServerCall(Generic[T]):
    """One call of a model's server, of so many texts with about so many tokens.

    `ask` makes it, `read` says what the reply holds (ValueError, with a phrase, where it is not what was asked for),
    `keep` puts that where it is not asked for again, one call at a time and before anybody sees it, `searches` says how
    many searches it is charged as, None where it is charged by tokens.
    """

    label: str
    model: str
    texts: int
    tokens: int
    ask: Callable[[], Any]
    read: Callable[[Any], T]
    keep: Callable[[T], None]
    searches: Callable[[Any], int | None] = lambda _: None


class ServerCalls:
    """Those of one stage."""

    def __init__(self, desk: Desk, ledger: Path, stage: str) -> None:
        self._desk, self._stage, self._ledger = desk, stage, ServerLedger(ledger)
        self._failed: Counter[str] = Counter()
        self._used: set[str] = set()
        self._silent, self._lock, self._keeping = 0, threading.Lock(), threading.Lock()

    def use(self, model: str) -> None:
        """Count a model among those used; what this stage has paid for it before counts towards the limit, once."""
        if model not in self._used:
            self._used.add(model)
            self._desk.budget.spend(sum(self._cost(row) or 0.0 for row in self.rows(model)))

    def usage(self) -> list[StageUsage]:
        """What the stage took of each model used, in this run and before; n_failed: in this run."""
        found = []
        for model in sorted(self._used):
            rows = self.rows(model)
            costs = list(map(self._cost, rows))
            usage = StageUsage(
                stage=self._stage,
                model=model,
                calls=len(rows),
                n_failed=self._failed[model],
                n_unmeasured=costs.count(None),
                input_tokens=known_sum(row.input_tokens for row in rows),
                output_tokens=None,
                cost_usd=known_sum(costs),
            )
            found.append(usage)
        return [row for row in found if row.calls or row.n_failed]

    def each(
        self, calls: Iterable[ServerCall[T]], n: int, *, all_or_none: bool
    ) -> Iterator[tuple[ServerCall[T], T | Failed]]:
        """As `Caller.serve`."""
        waiting, source = set[Future[tuple[ServerCall[T], T | Failed]]](), iter(calls)
        trouble: BaseException | None = None
        at_once = self._desk.register.experiment.run.max_concurrency
        pool = ThreadPoolExecutor(max(1, min(at_once, n)), thread_name_prefix="serve")
        try:
            while True:
                try:
                    while not self._desk.stop.is_set() and len(waiting) < at_once and (call := next(source, None)):
                        future = Future[tuple[ServerCall[T], T | Failed]]()
                        waiting.add(future)
                        pool.submit(self._fulfil, future, call, n)
                    if not waiting:
                        break
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                except KeyboardInterrupt as stopped:  # what is under way is paid for: it is given first
                    trouble = stopped
                    self._desk.stop.set()
                    pool.shutdown()
                    done, waiting = {future for future in waiting if future.done()}, set()
                for future in done:
                    if error := future.exception():
                        trouble = trouble or error
                        self._desk.stop.set()
                        continue
                    call, got = future.result()
                    if isinstance(got, Failed):
                        self._failed[call.model] += 1
                        if all_or_none:
                            self._desk.stop.set()
                    yield call, got
            if trouble is not None:
                raise trouble
        except BaseException:
            self._desk.stop.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _fulfil(self, future: Future[tuple[ServerCall[T], T | Failed]], call: ServerCall[T], n: int) -> None:
        """Work for a future of ours: the pool's own is lost where a stop reaches the main thread in `submit`."""
        try:
            future.set_result(self._work(call, n))
        except BaseException as error:  # noqa: BLE001 -- told through the future
            future.set_exception(error)

    def _work(self, call: ServerCall[T], n: int) -> tuple[ServerCall[T], T | Failed]:
        """Make one call. Raises BudgetSpent at the limit, InputError where every call would fail."""
        desk, costs = self._desk, list[float | None]()
        settings = self._settings(call.model)
        desk.budget.claim(lambda: served_cost_usd(call.model, settings, call.tokens, call.searches({})))
        try:
            got = self._ask(call, costs)
        except ProviderError as error:
            desk.reach.check(call.model, error, n)
            with self._lock:
                self._silent = 0 if error.answered else self._silent + 1
                gone = self._silent >= PATIENCE  # so many one after the other, each with all its retries
            if gone:
                remedy = "see that its server runs, then run again: nothing is lost"
                raise InputError(f"{call.model} does not answer any more: {error}", remedy=remedy) from error
            got = Failed(str(error))
        finally:
            known = [cost for cost in costs if cost is not None]
            desk.budget.end(sum(known) if known else None)
        lost = got.error if isinstance(got, Failed) else None
        desk.progress.advance("done" if lost is None else "failed", desk.budget.spent_usd, lost)
        return call, got

    def _ask(self, call: ServerCall[T], costs: list[float | None]) -> T | Failed:
        """What the call gives; a reply that is not what was asked for is asked for once more."""
        problem = ""
        for _ in range(2):
            started = time.monotonic()
            reply = self._desk.retrier.call(call.model, call.ask)
            row = ServerCallRow(
                stage=self._stage,
                model=call.model,
                label=call.label,
                texts=call.texts,
                input_tokens=tokens_of(reply),
                searches=call.searches(reply),
                latency_s=round(time.monotonic() - started, 4),
            )
            self._ledger.add(row)
            costs.append(self._cost(row))
            with self._lock:
                self._silent = 0
            try:
                got = call.read(reply)
                with self._keeping:
                    call.keep(got)
                return got
            except _UNREADABLE as error:
                laid_out = "a reply that is not laid out as expected"
                problem = str(error) if type(error) is ValueError else f"{laid_out} ({type(error).__name__})"
        return Failed(f"the server gave {plain(problem)}")

    def rows(self, model: str) -> list[ServerCallRow]:
        """The stage's calls of a model, in this run and before."""
        return [row for row in self._ledger.rows() if row.stage == self._stage and row.model == model]

    def _cost(self, row: ServerCallRow) -> float | None:
        return served_cost_usd(row.model, self._settings(row.model), row.input_tokens, row.searches)

    def _settings(self, model: str) -> ModelSettings:
        return self._desk.register.settings(model)
