"""Connections that send half a request, or many of them: ended in time, while others are answered."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ragassay.workbench.app import LARGEST_HEADER, server_of
from ragassay.workbench.asked import form_of

WHOLE = b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALVES = {
    "nothing": b"",
    "header": b"GET / HTTP/1.1\r\nHost: loc",
    "body": b"POST /form HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\na=",
    "chunked body": b"POST /form HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na=\r\n",
    "body that nobody reads": b"POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\na=",
}


@contextmanager
def listening(seconds: float, most: int = 8) -> Iterator[tuple[str, int]]:
    async def take(request: Request) -> Response:
        return PlainTextResponse(str(await form_of(request)))

    async def wait(request: Request) -> Response:
        await asyncio.sleep(1.0)
        return PlainTextResponse("there")

    routes = [Route("/form", take, methods=["POST"]), Route("/slow", wait, methods=["GET", "POST"])]
    server = server_of(Starlette(routes=routes), seconds=seconds, most=most)
    server.config.timeout_keep_alive = 2
    place = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield place.getsockname()
    finally:
        server.should_exit = True
        thread.join(20)
        place.close()


def said(connection: socket.socket, seconds: float = 10.0) -> bytes:
    """Everything until the other side ends; fails where it does not."""
    connection.settimeout(seconds)
    heard = b""
    try:
        while part := connection.recv(4096):
            heard += part
    except ConnectionResetError:
        pass
    return heard


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_half_a_request_is_not_waited_for(half: bytes, capsys: pytest.CaptureFixture[str]):
    with listening(0.6) as place, socket.create_connection(place) as connection:
        begun = time.monotonic()
        connection.sendall(half)
        said(connection)
        assert time.monotonic() - begun < 4
    assert "Traceback" not in capsys.readouterr().err


def test_a_header_that_comes_byte_by_byte_is_cut_off():
    with listening(0.6) as place, socket.create_connection(place) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nx: ")
        begun = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() - begun < 10:
                connection.sendall(b"x")
                time.sleep(0.05)
        assert time.monotonic() - begun < 4


def test_a_second_request_of_a_connection_has_its_own_time():
    with listening(0.6) as place, socket.create_connection(place) as connection:
        connection.sendall(WHOLE)
        time.sleep(1.3)
        connection.sendall(WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert said(connection).count(b"there") == 2
    with listening(0.6) as place, socket.create_connection(place) as connection:
        connection.sendall(WHOLE + HALVES["header"])
        begun = time.monotonic()
        assert said(connection).count(b"there") == 1
        assert time.monotonic() - begun < 9


def test_an_answer_may_take_longer_than_a_request():
    with listening(0.3) as place, socket.create_connection(place) as connection:
        connection.sendall(WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert said(connection).endswith(b"there")


def test_a_crowd_that_sends_nothing_keeps_nobody_out():
    with listening(60, most=8) as place:
        crowd = [socket.create_connection(place) for _ in range(30)]
        with socket.create_connection(place) as connection:
            connection.sendall(WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            assert said(connection).endswith(b"there")
        assert [said(one) for one in crowd[:20]] == [b""] * 20
        for one in crowd:
            one.close()


def test_a_header_that_is_longer_than_any_browsers_is_refused():
    with listening(60) as place, socket.create_connection(place) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nx: " + b"x" * (LARGEST_HEADER + 1))
        assert said(connection).startswith(b"HTTP/1.1 400")
