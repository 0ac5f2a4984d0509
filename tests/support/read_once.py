"""PDFs of the same bytes are read by a process once; that they are read rightly is tested in tests/synth/pdf."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragassay.synth.pdf.process import Limits, Pages, PageText, PdfProcess, Probe

_probed: dict[Any, Probe] = {}
_read: dict[Any, list[PageText]] = {}


@pytest.fixture(autouse=True, scope="module")
def pdfs_read_once() -> Iterator[None]:
    """For the tests of a module; what was read is kept for the next one."""
    really_probe, really_read = PdfProcess.probe, PdfProcess.read

    def probe(process: PdfProcess, document: Pages, limits: Limits) -> Probe:
        key = _key(document)
        found = _probed.get(key) or really_probe(process, document, limits)
        if key and found.error is None:
            _probed[key] = found
        return found

    def read(process: PdfProcess, wanted: Pages, limits: Limits, *tries: int) -> list[PageText]:
        key = _key(wanted, wanted.first, wanted.last)
        found = _read.get(key) or really_read(process, wanted, limits, *tries)
        if key and all(page.error is None for page in found):
            _read[key] = found
        return list(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PdfProcess, "probe", probe)
        patch.setattr(PdfProcess, "read", read)
        yield


def _key(document: Pages, *pages: int) -> tuple[Any, ...] | None:
    """None of a file that cannot be read."""
    try:
        return hashlib.sha256(Path(document.path).read_bytes()).hexdigest(), document.reader, *pages
    except OSError:
        return None
