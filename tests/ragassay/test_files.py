"""Files: what a full disk or a kill leaves of a line."""

from __future__ import annotations

import json
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from ragassay.files import append_line, append_whole


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


def test_what_a_kill_left_of_a_line_is_taken_out_before_the_next_one(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": ')
    append_line(path, {"n": 2})
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == [{"n": 1}, {"n": 2}]
