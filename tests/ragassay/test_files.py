"""Files: what a full disk or a kill leaves of a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.files import (
    append_line,
    append_whole,
    first_problem,
    read_qrels,
    read_records,
    read_rows,
    write_parts,
    write_text,
)
from ragassay.records import Answer, Game, Judgment, Passage, Record


def test_a_full_disk_leaves_no_part_of_a_line_and_is_named(tmp_path: Path):
    class Full(FileIO):
        def write(self, data: Any) -> int:
            if len(data) > 4:
                return super().write(data[:4])
            raise OSError(28, "No space left on device")

    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"n": 1}\n')
    with Full(path, "a") as stream, pytest.raises(OSError, match="No space left") as raised:
        append_whole(stream, b'{"n": 2}\n')
    assert path.read_bytes() == b'{"n": 1}\n' and raised.value.filename == str(path)


def test_what_is_no_file_is_named_when_it_is_full():
    with pytest.raises(OSError, match="No space left") as raised:
        write_text(Path("/dev/full"), "a line\n")
    assert raised.value.filename == "/dev/full"


def test_what_a_kill_left_of_a_line_is_taken_out_before_the_next_one(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": ')
    append_line(path, {"n": 2})
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == [{"n": 1}, {"n": 2}]


def test_what_cannot_be_written_whole_leaves_the_file_as_it_was_and_no_other_beside_it(tmp_path: Path):
    def broken() -> Iterator[bytes]:
        yield b"a half"
        raise RuntimeError("killed")

    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"as it was\n")
    with pytest.raises(RuntimeError, match="killed"):
        write_parts(path, broken())
    assert path.read_bytes() == b"as it was\n" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("read", [read_rows, read_records])
@pytest.mark.parametrize("both", [{"label": 1, "error": "e"}, {"label": None, "error": None}])
def test_a_label_beside_an_error_and_neither_of_the_two_are_refused(tmp_path: Path, read: Any, both: dict[str, Any]):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(SOUND[Judgment] | both) + "\n")
    with pytest.raises(InputError, match="exactly one of label and error must be set"):
        read(path, Judgment)


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1), (0, 1)])
def test_a_passage_with_two_labels_is_refused_by_its_line(tmp_path: Path, first: int, second: int):
    path = tmp_path / "qrels.trec"
    path.write_text(f"q 0 p {first}\nq 0 p {first}\nq 0 p {second}\n")
    with pytest.raises(InputError, match="gives 'p' another label for query 'q' than an earlier line") as raised:
        read_qrels(path)
    assert raised.value.line == 3


KINDS: tuple[type[Record], ...] = (Judgment, Game, Answer, Passage)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([10**30, 2**63, 0.5, -0.0, 1e300, float("nan"), float("inf"), 1.0]),
    st.text(max_size=5),
    st.sampled_from(["a", "b", "tie", "bm25-rag", "0.5", "1", "no id!", "\ud800", "ü\u2028\0", "", "true"]),
    st.lists(st.sampled_from(["p1", "p2", 3, None, ["p"]]), max_size=3),
    st.dictionaries(
        st.sampled_from(["input_tokens", "cost_usd", "x"]), st.sampled_from([1, 2.5, "3", None]), max_size=2
    ),
)
SOUND: dict[type[Record], dict[str, Any]] = {
    Judgment: {"query_id": "q", "subject": "s", "judge": "j", "criterion": "c", "label": 1, "reason": 'why\n"so"'},
    Game: {"query_id": "q", "agent_a": "x", "agent_b": "y", "first": "a", "judge": "j", "winner": "tie", "place_a": 1},
    Answer: {"query_id": "q", "agent": "x", "answer": "é", "passages": ["p"], "usage": {"cost_usd": 1}, "latency_s": 2},
    Passage: {"_id": "p", "text": "t", "metadata": {"doc": "d", "pages": [1, 2.0, {"n": None}]}},
}


@st.composite
def lines(draw: st.DrawFn) -> tuple[type[Record], bytes]:
    """A sound line of some kind with a few fields changed, left out, added or said twice, or broken text."""
    kind = draw(st.sampled_from(KINDS))
    pairs = list(SOUND[kind].items())
    names = [*(one.alias or name for name, one in kind.model_fields.items()), "unknown"]
    for name in draw(st.lists(st.sampled_from(names), max_size=3)):
        if draw(st.booleans()):
            pairs.insert(draw(st.integers(0, len(pairs))), (name, draw(VALUES)))
        else:
            pairs = [pair for pair in pairs if pair[0] != name]
    ascii_only = draw(st.booleans())
    parts = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=ascii_only)}" for key, value in pairs]
    line = ("{" + ", ".join(parts) + "}").encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 5)) == 0:
        at = draw(st.integers(0, len(line)))
        broken = draw(st.sampled_from([b"", b"\xff", b"\x01", b"\t", b",", b"1e999", b"[" * 300]))
        line = line[:at] + broken + line[at + 1 :]
    return kind, line + draw(st.sampled_from([b"", b"\r", b"  "]))


def by_itself(kind: type[Record], line: bytes) -> Record | str:
    """The record, or what is wrong with the line."""
    text = line.decode()
    try:
        value = json.loads(text)
        return kind.model_validate(value) if isinstance(value, dict) else "is not a JSON object"
    except ValidationError as error:
        return first_problem(error).removeprefix("Value error, ")
    except (ValueError, RecursionError) as error:
        return f"is not JSON ({error})"


def plain_values(row: Any, kind: type[Record]) -> str:
    """Every value with its type, NaN like any other."""
    values = {name: getattr(row, name) for name in kind.model_fields}
    if "usage" in values:
        values["usage"] = [getattr(row.usage, name) for name in ("input_tokens", "output_tokens", "cost_usd")]
    return repr(values)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines())
def test_a_row_is_what_the_record_is_and_an_error_what_its_error_is(tmp_path: Path, made: tuple[type[Record], bytes]):
    kind, line = made
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n" + line + b"\n")
    try:
        expected = by_itself(kind, line)
    except UnicodeDecodeError:
        expected = "is not UTF-8 text"
    for read in (read_rows, read_records):
        if isinstance(expected, str):
            with pytest.raises(InputError) as raised:
                read(path, kind)
            assert expected in str(raised.value) and str(path) in str(raised.value)
            assert "line 2" in str(raised.value) or ":2" in str(raised.value)
        else:
            [row] = read(path, kind)
            assert plain_values(row, kind) == plain_values(expected, kind)


@pytest.mark.parametrize("read", [read_rows, read_records])
def test_what_is_wrong_with_the_whole_file_comes_before_its_lines(tmp_path: Path, read: Any):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\n" * 3 + b"\xff\n")
    with pytest.raises(InputError, match="is not UTF-8 text") as raised:
        read(path, Judgment)
    assert raised.value.line == 4
    path.write_bytes("{}\n".encode("utf-16"))
    with pytest.raises(InputError, match="is UTF-16"):
        read(path, Judgment)
    with pytest.raises(InputError, match="there is no such file"):
        read(tmp_path / "none.jsonl", Judgment)


def test_a_byte_order_mark_blank_lines_and_long_texts(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    row = {"query_id": "q", "agent": "x", "answer": "y" * 200_000}
    path.write_text("\ufeff" + json.dumps(row) + "\n\n \u00a0\n" + json.dumps(row), encoding="utf-8")
    assert [len(one.answer or "") for one in read_rows(path, Answer)] == [200_000] * 2
    path.write_text(json.dumps(row | {"answer": "y" * 1_000_001}), encoding="utf-8")
    with pytest.raises(InputError, match="1,000,001 characters"):
        read_rows(path, Answer)


def test_what_is_taken_from_a_row_is_checked_before(tmp_path: Path):
    def without_reason(row: Any) -> None:
        row.reason = None

    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(SOUND[Judgment]) + "\n")
    [row] = read_rows(path, Judgment, without_reason)
    assert row.reason is None and row.model_copy(update={"label": 2.0}).label == 2.0 and row.label == 1.0
    path.write_text(json.dumps(SOUND[Judgment] | {"reason": 1}) + "\n")
    with pytest.raises(InputError, match="reason: Input should be a valid string"):
        read_rows(path, Judgment, without_reason)
