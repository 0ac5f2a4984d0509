"""Every error ragassay raises.

RagassayError
├── InputError          the user can mend it: file, line, remedy       exit status 2
│   ├── MissingExtra    a part of the installation is not there
│   └── Obstacles       several such things, found together
├── ProviderError       what a model's provider did: worth a retry or not
├── RepliesMissing      a `file:` model's replies have not come yet    exit status 3
├── BudgetSpent         the next call would pass the cost limit        exit status 4
├── NothingCame         models were asked and nothing came of it       exit status 6
└── NotJudged           an answer that was to be asserted on could not be judged

A stage that is done but left something out is no error; it ends with status LEFT_OUT.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .text import without_keys

LEFT_OUT = 5
"""The exit status of what is done, but left out some of the input, such as a PDF that cannot be read."""


class RagassayError(Exception):
    """The root: one clause catches everything ragassay raises on purpose. What looks like a key in it is blanked."""

    exit_status = 1

    def __init__(self, message: str = "") -> None:
        super().__init__(without_keys(message))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What to say to the user, a line each."""
        return (str(self),)


class InputError(RagassayError):
    """Something the user gave cannot be used; the message is one sentence that says what to do.

    `file` and `line` (1-based) say where, `remedy` what to do about it.
    """

    exit_status = 2

    def __init__(
        self, problem: str, *, file: Path | str | None = None, line: int | None = None, remedy: str | None = None
    ) -> None:
        self.problem, self.file, self.line, self.remedy = without_keys(problem), file, line, remedy
        where = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(where + problem + (f"; {remedy}" if remedy else ""))


class MissingExtra(InputError):
    """An optional package is needed and not installed."""

    def __init__(self, need: str, extra: str) -> None:
        command = f'pip install "ragassay[{extra}]"'
        super().__init__(f"{need} needs the extra '{extra}'", remedy=f"install it with `{command}`")


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Raises MissingExtra for `what` where a module that is imported inside is not installed; {} in it is its name."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(what.replace("{}", str(error.name)), extra) from None


class Obstacles(InputError):
    """All that stands in the way, at least one thing; each is said in a line of its own."""

    def __init__(self, found: Sequence[InputError]) -> None:
        super().__init__("; and ".join(map(str, found)))
        self.found = tuple(found)

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(map(str, self.found))


class ProviderError(RagassayError):
    """A provider did not deliver a reply.

    `retryable` says whether the same request may succeed later; `retry_after_s` is the provider's own wish, in seconds;
    `answered` is False where nothing came back at all.
    """

    def __init__(
        self, message: str, *, retryable: bool, retry_after_s: float | None = None, answered: bool = True
    ) -> None:
        super().__init__(message)
        self.retryable, self.retry_after_s, self.answered = retryable, retry_after_s, answered


class RepliesMissing(RagassayError):
    """Requests were written for a model that answers through files, and their replies are not there yet."""

    exit_status = 3


class BudgetSpent(RagassayError):
    """The cost limit is reached; what was received is kept and a later run goes on from there."""

    exit_status = 4


class NothingCame(RagassayError):
    """Models were asked and there is nothing to go on with: every call failed, or no question is left."""

    exit_status = 6


class NotJudged(RagassayError):
    """An answer that was to be asserted on could not be judged: neither good enough nor not."""
