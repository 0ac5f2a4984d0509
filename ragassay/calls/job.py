"""One distinct request of a stage, however often it was asked: its replies so far, and the one that it gets."""

from __future__ import annotations

from dataclasses import dataclass

from ..models.requests import Body, Reply, Request, read_reply
from .reply_cache import Stored


@dataclass
class Job:
    """A request: where it stands and, at the end, its reply."""

    key: str
    label: str
    model: str
    request: Request
    reply: Reply | None = None
    received: tuple[Stored, ...] = ()
    paid: bool = False

    @property
    def done(self) -> Reply:
        """The reply, or the error that there is none."""
        return Reply(error="stopped before it was asked") if self.reply is None else self.reply

    @property
    def bodies(self) -> list[Body]:
        """What was received, errors left out."""
        return [stored.body for stored in self.received if stored.body is not None]

    @property
    def recorded(self) -> bool:
        """Whether any of it came with the corpus."""
        return any(stored.recorded for stored in self.received)


def reply_of(request: Request, stored: Stored) -> Reply:
    """A stored reply as the stage gets it."""
    return read_reply(request, stored.body) if stored.body is not None else Reply(error=stored.error)
