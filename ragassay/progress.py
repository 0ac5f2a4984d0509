"""Progress of long work, on stderr: how many done, failed, from the cache; the time left; the money spent."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Literal, Protocol, TextIO

Outcome = Literal["done", "cached", "failed"]


class Progress(Protocol):
    """What a stage tells while it works."""

    def start(self, what: str, total: int) -> None: ...

    def advance(self, outcome: Outcome, spent_usd: float | None, error: str | None = None) -> None:
        """One more. error: what is wrong with one that failed, in a sentence; untrusted text."""
        ...

    def show(self) -> None:
        """Say where it stands, though nothing has changed."""
        ...

    def waiting(self, model: str, done: int, failed: int, total: int) -> None:
        """How many requests of a model's batches the provider has done; all 0 when there are none any more."""
        ...

    def stop(self) -> None: ...


class NoProgress:
    """Tells nobody."""

    def start(self, what: str, total: int) -> None:
        del what, total

    def advance(self, outcome: Outcome, spent_usd: float | None, error: str | None = None) -> None:
        del outcome, spent_usd, error

    def show(self) -> None:
        return

    def waiting(self, model: str, done: int, failed: int, total: int) -> None:
        del model, done, failed, total

    def stop(self) -> None:
        return


class Counts:
    """The numbers behind a line of progress; `clock` gives seconds and is a parameter so that tests are exact."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.total, self._clock, self._started = total, clock, clock()
        self.counts: dict[Outcome, int] = {"done": 0, "cached": 0, "failed": 0}
        self.spent_usd: float | None = None
        self.batches: dict[str, tuple[int, int, int]] = {}

    def advance(self, outcome: Outcome, spent_usd: float | None) -> None:
        self.counts[outcome] += 1
        if spent_usd is not None:
            self.spent_usd = spent_usd

    def left_s(self) -> float | None:
        """Seconds left at the pace so far of what was not cached; None while that is unknown."""
        worked = self.counts["done"] + self.counts["failed"]
        left = self.total - worked - self.counts["cached"]
        elapsed = self._clock() - self._started
        return left * elapsed / worked if worked and elapsed > 0 else None

    def line(self, what: str) -> str:
        """`judge: 120/640, 3 failed, 40 from cache, 1:10 left, $0.42`."""
        done = sum(self.counts.values())
        parts = [f"{what}: {done}/{self.total}"]
        parts += [f"{self.counts['failed']} failed"] if self.counts["failed"] else []
        parts += [f"{self.counts['cached']} from cache"] if self.counts["cached"] else []
        left = self.left_s()
        parts += [f"{_clock(left)} left"] if left is not None and done < self.total else []
        if any(total for _, _, total in self.batches.values()):
            there, failed, total = (sum(numbers) for numbers in zip(*self.batches.values(), strict=True))
            bad = f", {failed} failed" if failed else ""
            waited = _clock(self._clock() - self._started)
            parts.append(f"in batches {there}/{total} done{bad}, waiting for {waited}")
        parts += [f"${self.spent_usd:.2f}"] if self.spent_usd else []
        return ", ".join(parts)


def _clock(seconds: float) -> str:
    """`14:20` or `2:14:20`."""
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


_last: object = None
"""The counter that told last."""


def counter(progress: Progress, what: str) -> Callable[[int, int], None]:
    """A callback that takes (done, total) and tells `progress`, for work that only counts.

    One line at a time is told to a `progress`. Fewer done than before, or another total, is other work; a counter that
    goes on after another has told begins its line again.
    """
    said = of = 0

    def tell(done: int, total: int) -> None:
        global _last
        nonlocal said, of
        if said == 0 or done < said or total != of or _last is not tell:
            said, of, _last = 0, total, tell
            progress.start(what, total)
        while said < done:
            said += 1
            progress.advance("done", None)
        if done >= total:
            said = 0
            progress.stop()

    return tell


class StderrProgress:
    """One line rewritten in place on a terminal; elsewhere a line every `every_s` seconds and one at the end."""

    def __init__(self, stream: TextIO | None = None, every_s: float = 15.0) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._every_s = 0.1 if self._live else every_s
        self._what, self._counts, self._said_at = "", Counts(0), 0.0

    def start(self, what: str, total: int) -> None:
        self._what, self._counts, self._said_at = what, Counts(total), time.monotonic()

    def advance(self, outcome: Outcome, spent_usd: float | None, error: str | None = None) -> None:
        del error
        self._counts.advance(outcome, spent_usd)
        if time.monotonic() - self._said_at >= self._every_s:
            self.show()

    def show(self) -> None:
        self._said_at = time.monotonic()
        self._say(end="\r" if self._live else "\n")

    def waiting(self, model: str, done: int, failed: int, total: int) -> None:
        news = self._counts.batches.get(model) != (done, failed, total)
        self._counts.batches[model] = (done, failed, total)
        if total and (news or self._live):
            self.show()

    def stop(self) -> None:
        if self._counts.total:
            self._say(end="\n")

    def _say(self, end: str) -> None:
        clear = "\x1b[2K" if self._live else ""
        self._stream.write(f"{clear}{self._counts.line(self._what)}{end}")
        self._stream.flush()
