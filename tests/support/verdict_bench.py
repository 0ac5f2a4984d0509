"""One answer judged over HTTP by evaluators that ask for claims and verdicts, by scripted replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from support import judge_bench
from support.item_replies import Answer, items, script, verdicts
from support.judge_bench import Bench

from ragassay.records import Assessment


def judge_one(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    names: str,
    by_fields: Mapping[str, Answer],
    *lines: str,
    answer: str = "An answer.",
    passages: Sequence[str] = ("A passage.",),
    expected: str = "Expected.",
    more: Sequence[str] = (),
) -> dict[str, Assessment]:
    """By criterion, the record of an answer with these passages and this expected response. lines: of --config."""
    found = [{"_id": f"p{i}", "title": "", "text": text} for i, text in enumerate(passages, 1)]
    unused = {"_id": "unused", "title": "", "text": "Nobody found it."}
    query = {"_id": "q", "text": "What?", "metadata": {"expected_response": expected}}
    monkeypatch.setattr(judge_bench, "PASSAGES", [*found, unused])
    monkeypatch.setattr(judge_bench, "QUERIES", [query])
    bench.server.script = script(by_fields)
    given = {"query_id": "q", "agent": "ours", "answer": answer, "passages": [one["_id"] for one in found]}
    rows = bench.judge(names, *(bench.config(*lines) if lines else ()), *more, answers=[given])
    return {row.criterion: row for row in rows}


def yes_where(tag: str, *texts: str) -> Answer:
    """yes for the items of this tag that are among `texts`, no for the others."""
    return lambda message: verdicts(["yes" if item in texts else "no" for item in items(tag, message)])


def asked(bench: Bench) -> list[str]:
    """What each request laid before the model."""
    return [str(request.body["messages"][1]["content"]) for request in bench.server.requests]
