"""How long a browser may take to send a request, and how many connections there are: none is held for ever.

uvicorn ends a connection that is idle between two requests. One that never sends its first, or sends a header or a body
byte by byte, it waits for as long as it lives.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 15.0
"""From when a connection is there, or a request begins, until its last byte has come."""

MOST = 256
"""Connections at once. Where one more comes, that which is owed a request for longest is ended."""

LARGEST_HEADER = 32_768
"""Bytes of a request's line and header."""


def server_of(app: ASGIApp, *, seconds: float = SECONDS, most: int = MOST) -> uvicorn.Server:
    """The server of `app`, with these limits; it says nothing but warnings."""

    class Limited(_Connection):
        pass

    Limited.seconds, Limited.most = seconds, most
    # uvicorn's own configuration of logging closes the handlers of everybody else.
    quiet: dict[str, Any] = {"log_config": None, "log_level": "warning", "server_header": False, "access_log": False}
    return uvicorn.Server(
        uvicorn.Config(app, http=Limited, ws="none", h11_max_incomplete_event_size=LARGEST_HEADER, **quiet)
    )


class _Connection(H11Protocol):
    """uvicorn's, ended when a request is not whole in time. due: when it will be; None while nothing is owed."""

    seconds = SECONDS
    most = MOST
    due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._owed()
        if len(self.connections) > self.most:
            waiting = [one for one in self.connections if isinstance(one, _Connection) and one.due is not None]
            min(waiting, key=lambda one: one.due.when() if one.due else 0.0)._end()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._owed()
        else:
            self._given()

    def connection_lost(self, exc: Exception | None) -> None:
        self._given()
        super().connection_lost(exc)

    def _owed(self) -> None:
        self.due = self.due or self.loop.call_later(self.seconds, self._end)

    def _given(self) -> None:
        if self.due is not None:
            self.due.cancel()
            self.due = None

    def _end(self) -> None:
        self._given()
        self.transport.abort()
