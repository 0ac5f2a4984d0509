"""Who is let in: the names of `Host`, the token, what may write, and the headers of every response."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from ragassay.workbench.app import COOKIE, LOOPBACK, Access, Guard


def client(access: Access) -> TestClient:
    def page(request: Request) -> Response:
        return PlainTextResponse(request.method)

    route = Route("/page", page, methods=["GET", "POST"])
    app = Starlette(routes=[route], middleware=[Middleware(Guard, access=access)])
    return TestClient(app, base_url="http://localhost:8765")


@pytest.mark.parametrize("host", ["localhost", "localhost:8765", "127.0.0.1:1", "[::1]:8765", "LOCALHOST"])
def test_this_machine_is_answered_by_its_names(host: str):
    assert client(Access()).get("/page", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::1", ""])
def test_a_name_that_only_leads_here_is_refused(host: str):
    assert client(Access()).get("/page", headers={"host": host}).status_code == 421


def test_no_page_may_load_or_run_anything_from_elsewhere():
    headers = client(Access()).get("/page").headers
    rules = dict(rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";"))
    assert rules["default-src"] == "'none'" and rules["script-src"] == rules["style-src"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"


def test_without_the_token_nothing_is_shown_and_with_it_the_address_forgets_it():
    reader = client(Access(LOOPBACK, token="s3cret"))
    assert reader.get("/page").status_code == 403
    assert reader.get("/page?token=guess").status_code == 403
    answer = reader.get("/page?token=s3cret&words=a", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/page?words=a")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert reader.get("/page").text == "GET"


@pytest.mark.parametrize(("cookie", "status"), [("s3cret", 200), ("guess", 403), ("", 403), ("s3cret2", 403)])
def test_only_a_cookie_with_the_token_is_let_in(cookie: str, status: int):
    reader = client(Access(LOOPBACK, token="s3cret"))
    assert reader.get("/page", headers={"cookie": f"{COOKIE}={cookie}"}).status_code == status


@pytest.mark.parametrize("path", ["//evil.example/x", "///evil.example/x", "/%2Fevil.example/x"])
def test_the_address_without_its_token_is_never_another_hosts(path: str):
    reader = client(Access(LOOPBACK, token="s3cret"))
    answer = reader.get(f"http://localhost:8765{path}?token=s3cret&words=%2F%2Fa", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/evil.example/x?words=%2F%2Fa")


def test_a_name_with_signs_of_its_own_is_still_that_name_when_the_token_is_gone():
    reader = client(Access(LOOPBACK, token="s3cret"))
    answer = reader.get("/page/a%20%3F%25%23.pdf?token=s3cret", follow_redirects=False)
    assert answer.headers["location"] == "/page/a%20%3F%25%23.pdf"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"x-ragassay-write": "mine"}, 200),
        ({"x-ragassay-write": "mine", "origin": "http://localhost:8765", "sec-fetch-site": "same-origin"}, 200),
        ({}, 403),
        ({"x-ragassay-write": "guess"}, 403),
        ({"x-ragassay-write": "mine", "origin": "http://evil.example"}, 403),
        ({"x-ragassay-write": "mine", "origin": "null"}, 403),
        ({"x-ragassay-write": "mine", "sec-fetch-site": "cross-site"}, 403),
    ],
)
def test_only_our_pages_write(headers: dict[str, str], status: int):
    assert client(Access(write="mine")).post("/page", headers=headers).status_code == status
