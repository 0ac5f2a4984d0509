"""`ragassay replies`: nothing taken in before is lost, and a file that was cut off is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.small_corpus import make_corpus

from ragassay.calls.reply_cache import ReplyCache, output_line, read_replies
from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.models.requests import usage_of


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return make_corpus(tmp_path / "mine", "file:m")


def line(key: str, text: str = "{}") -> str:
    return json.dumps(output_line(key, {"choices": [{"message": {"content": text}}]})) + "\n"


def cached(tmp_path: Path) -> ReplyCache:
    return ReplyCache(tmp_path / "results" / "mine" / "replies")


def test_two_files_of_one_name_are_both_kept_and_the_later_word_counts(tmp_path: Path, corpus: Path):
    file = tmp_path / "output.jsonl"
    for text in (line("one", "first"), line("two"), line("one", "second")):
        file.write_text(text)
        assert main(["replies", str(file), str(corpus)]) == 0
    one = cached(tmp_path).get("one")
    assert len(cached(tmp_path)) == 2
    assert one and one.body and one.body["choices"][0]["message"]["content"] == "second"


def test_the_same_file_twice_is_kept_once(tmp_path: Path, corpus: Path):
    (tmp_path / "output.jsonl").write_text(line("one"))
    for _ in range(3):
        assert main(["replies", "output.jsonl", str(corpus)]) == 0
    assert len(list((tmp_path / "results/mine/replies").iterdir())) == 1


def test_a_name_like_that_of_received_replies_replaces_nothing(tmp_path: Path, corpus: Path):
    received = tmp_path / "results/mine/replies/received-questions.jsonl"
    received.parent.mkdir(parents=True)
    received.write_text(line("paid"))
    (tmp_path / received.name).write_text(line("one"))
    assert main(["replies", received.name, str(corpus)]) == 0
    assert len(cached(tmp_path)) == 2


def test_a_file_that_was_cut_off_is_refused_with_its_line(tmp_path: Path, corpus: Path, capsys):
    (tmp_path / "output.jsonl").write_text(line("one") + line("two")[:30])
    assert main(["replies", "output.jsonl", str(corpus)]) == 2
    assert "output.jsonl:2: is cut off" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path):
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + line("one").encode())
    assert [key for key, _ in read_replies(tmp_path / "a.jsonl")] == ["one"]


@pytest.mark.parametrize("bad", ['"x"', "NaN", "-1", "true", "1e999"])
def test_a_latency_that_is_no_time_is_refused(tmp_path: Path, bad: str):
    text = line("one").replace('"error": null', f'"error": null, "latency_s": {bad}')
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(InputError, match=r"a\.jsonl:1: latency_s"):
        list(read_replies(tmp_path / "a.jsonl"))


@pytest.mark.parametrize("bad", ["[" * 100_000, '{"custom_id": 5}', '{"custom_id": 5, "result": {"type": "errored"}}'])
def test_a_line_that_is_no_reply_is_refused(tmp_path: Path, bad: str):
    (tmp_path / "a.jsonl").write_text(bad + "\n")
    with pytest.raises(InputError, match=r"a\.jsonl:1"):
        list(read_replies(tmp_path / "a.jsonl"))


@pytest.mark.parametrize(
    "usage",
    [None, "much", {"prompt_tokens": "many", "completion_tokens": True}, {"prompt_tokens_details": [1]}, [1, 2]],
)
def test_usage_that_is_no_number_was_not_measured(usage: Any):
    assert usage_of({"usage": usage}) == (None, None, 0, 0)
