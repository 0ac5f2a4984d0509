"""The ledger of servers' calls: what a kill left, and a line that is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.calls.served import ServerLedger
from ragassay.errors import InputError
from ragassay.records import ServerCallRow

ROW = ServerCallRow(
    stage="screen", model="rerank:m", label="rerank", texts=3, input_tokens=None, searches=1, latency_s=0.5
)


def test_a_line_cut_off_by_a_kill_is_written_over(tmp_path: Path):
    path = tmp_path / "server-calls.jsonl"
    ServerLedger(path).add(ROW)
    with path.open("a") as stream:
        stream.write('{"stage": "scr')
    ledger = ServerLedger(path)
    assert ledger.rows() == [ROW]
    ledger.add(ROW)
    assert ledger.rows() == ServerLedger(path).rows() == [ROW, ROW]


def test_a_line_that_is_no_call_is_named(tmp_path: Path):
    path = tmp_path / "server-calls.jsonl"
    ServerLedger(path).add(ROW)
    with path.open("a") as stream:
        stream.write('{"stage": "screen"}\n')
    with pytest.raises(InputError, match=r"server-calls\.jsonl:2: is not a call of a server .*remove the line"):
        ServerLedger(path).rows()
