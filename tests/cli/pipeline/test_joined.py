"""Agents of another folder meet ours only over the same queries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.results_folder import experiment, results_folder

from ragassay.cli.pipeline.opening import check_others
from ragassay.errors import InputError
from ragassay.files import write_records
from ragassay.records import Query

OURS = [("q1", "How?"), ("q2", "Why?")]


@pytest.mark.parametrize(
    ("theirs", "other"),
    [
        (OURS, None),
        (OURS[::-1], None),
        (OURS[:1], "q2"),
        ([*OURS, ("q3", "When?")], "q3"),
        ([OURS[0], ("q2", "Why not?")], "q2"),
    ],
)
def test_a_query_that_only_one_has_or_that_reads_otherwise_is_refused(
    tmp_path: Path, theirs: list[tuple[str, str]], other: str | None
) -> None:
    queries = [Query(_id=name, text=text) for name, text in OURS]
    workspace = replace(results_folder(tmp_path, experiment(), queries=queries), others=(tmp_path / "theirs",))
    write_records(tmp_path / "theirs" / "queries.jsonl", [Query(_id=name, text=text) for name, text in theirs])
    if other is None:
        check_others(workspace)
    else:
        with pytest.raises(InputError, match=f"query '{other}' is not the same"):
            check_others(workspace)
