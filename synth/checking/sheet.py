"""The sheet on which people accept or reject what a check found: a row for each question, in cells that run nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from ragassay.files import write_text
from ragassay.text import safe_cell

from .findings import Checked
from .test_set import Item

COLUMNS = ("id", "row", "text", "answer", "faults", "details", "verdict")


def write_sheet(path: Path, items: Sequence[Item], checked: Checked) -> None:
    """Write every question, in the set's order, with its faults and an empty `verdict` (accept or reject)."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for item in items:
        own = [finding for finding in checked.findings if finding.row == item.row]
        faults, details = " ".join(one.fault for one in own), "; ".join(one.detail for one in own)
        cells = (item.id, str(item.row), item.text, item.answer or "", faults, details, "")
        writer.writerow(map(safe_cell, cells))
    write_text(path, stream.getvalue())
