"""The reply cache: what is in a key, what survives a kill, what is refused."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel
from support.json_lines import write_lines

from ragassay.calls.reply_cache import ReplyCache, output_line
from ragassay.errors import InputError
from ragassay.experiment.tables import ModelSettings
from ragassay.models.requests import Request, read_reply, request_key, usage_of
from ragassay.prompts import Message


class Yes(BaseModel):
    yes: bool


class No(BaseModel):
    no: bool


REQUEST = Request((Message("system", "s"), Message("user", "u")), schema=Yes)
SETTINGS = ModelSettings()


def key(request: Request = REQUEST, model: str = "openai:m", url: str | None = None, settings=SETTINGS) -> str:
    return request_key(model, url, settings, request)


def body(text: str) -> dict[str, object]:
    return {"choices": [{"message": {"content": text}}]}


@pytest.mark.parametrize(
    "changed",
    [
        key(replace(REQUEST, messages=(Message("system", "s"), Message("user", "v")))),
        key(replace(REQUEST, messages=(Message("user", "s"), Message("user", "u")))),
        key(replace(REQUEST, schema=No)),
        key(replace(REQUEST, schema=None)),
        key(replace(REQUEST, tokens=("yes", "no"))),
        key(replace(REQUEST, sample=1)),
        key(model="openai:n"),
        key(url="http://127.0.0.1/v1"),
        key(settings=SETTINGS.model_copy(update={"temperature": 0.0})),
        key(settings=SETTINGS.model_copy(update={"max_tokens": 5})),
        key(settings=SETTINGS.model_copy(update={"top_p": 1.0})),
        key(settings=SETTINGS.model_copy(update={"seed": 0})),
        key(settings=SETTINGS.model_copy(update={"presence_penalty": 0.0})),
    ],
)
def test_what_shapes_the_reply_changes_the_key(changed: str):
    assert changed != key()


@pytest.mark.parametrize(
    "update",
    [
        {"timeout_s": 1.0},
        {"requests_per_minute": 5.0},
        {"requests_per_file": 3},
        {"threads": 2},
        {"cache_ram_mib": 1},
        {"mode": "batch"},
        {"poll_s": 1.0},
        {"prices_usd_per_million": {"input": 1.0}},
    ],
)
def test_what_does_not_shape_the_reply_does_not_change_the_key(update: dict[str, object]):
    assert key(settings=SETTINGS.model_copy(update=update)) == key()


def test_the_key_is_pinned_since_a_new_one_throws_paid_replies_away():
    pinned = "d62eee271ff9c73ad6bdf3d1bad22ddcecf1f6ce928723315885c38ee17de43f"
    assert request_key("openai:m", None, SETTINGS, Request((Message("user", "hällo"),))) == pinned


@pytest.mark.parametrize(
    ("update", "pinned"),
    [
        ({"temperature": 0.0}, "5e116b2a"),
        ({"top_p": None, "seed": None, "presence_penalty": None}, "d62eee27"),
        ({"temperature": 0.0, "top_p": 1.0, "seed": 42, "presence_penalty": 0.5}, "2762420c"),
    ],
)
def test_what_is_not_set_of_the_sampling_is_not_in_the_key(update: dict[str, object], pinned: str):
    settings = ModelSettings.model_validate(update)
    assert request_key("openai:m", None, settings, Request((Message("user", "hällo"),))).startswith(pinned)


def test_a_torn_last_line_is_dropped_and_written_over(tmp_path: Path):
    cache = ReplyCache(tmp_path)
    cache.put("a", body("1"), 0.1, "received")
    cache.put("b", body("2"), 0.1, "received")
    file = tmp_path / "received.jsonl"
    whole = file.read_bytes()
    for length in range(len(whole) // 2 + 1, len(whole) - 1):
        file.write_bytes(whole[:length])
        again = ReplyCache(tmp_path)
        assert again.get("a") is not None and again.get("b") is None
        again.put("c", body("3"), 0.1, "received")
        assert [json.loads(line)["custom_id"] for line in file.read_text().splitlines()] == ["a", "c"]


def test_a_damaged_line_in_the_middle_is_said_not_dropped(tmp_path: Path):
    (tmp_path / "r.jsonl").write_text('{"custom_id": "a"\n{"custom_id": "b", "response": {"body": {}}}\n')
    with pytest.raises(InputError, match=r"r\.jsonl:1: is not a line of Batch output"):
        ReplyCache(tmp_path)


def test_recorded_runs_are_read_and_a_later_success_goes_before_an_error(tmp_path: Path):
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    failed = {"custom_id": "a", "response": {"status_code": 500, "body": {"error": "x"}}, "error": None}
    lines = [json.dumps(failed), json.dumps(output_line("b", body("2")))]
    (shipped / "run.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode() + b"\n"))
    cache = ReplyCache(tmp_path / "own", [shipped])
    assert cache.get("a").body is None and "500" in cache.get("a").error
    assert cache.get("b").recorded
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.jsonl").write_text(json.dumps(output_line("a", body("1"))) + "\n")
    assert ReplyCache(tmp_path / "own", [shipped]).get("a").body == body("1")


def test_results_of_anthropics_message_batches_are_read_as_well(tmp_path: Path):
    # The layout of https://docs.anthropic.com/en/docs/build-with-claude/batch-processing, "Retrieve batch results".
    message = {"content": [{"type": "text", "text": '{"yes": true}'}], "stop_reason": "end_turn"}
    message["usage"] = {"input_tokens": 11, "output_tokens": 36, "cache_read_input_tokens": 100}
    lines = [
        {"custom_id": "a", "result": {"type": "succeeded", "message": message}},
        {"custom_id": "b", "result": {"type": "errored", "error": {"type": "invalid_request"}}},
        {"custom_id": "c", "result": {"type": "expired"}},
    ]
    write_lines(tmp_path / "batch.jsonl", lines)
    cache = ReplyCache(tmp_path)
    stored = cache.get("a")
    assert stored is not None and stored.body is not None
    assert read_reply(REQUEST, stored.body).value == Yes(yes=True)
    assert usage_of(stored.body) == (111, 36, 100, 0)
    assert "invalid_request" in cache.get("b").error and "expired" in cache.get("c").error
