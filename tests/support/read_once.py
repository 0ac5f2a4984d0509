"""PDFs of the same bytes are read by a process once; that they are read rightly is tested in tests/synth/pdf."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragassay.synth.pdf.process import Limits, Pages, PageText, PdfProcess, Probe


@pytest.fixture(autouse=True, scope="session")
def pdfs_read_once() -> Iterator[None]:
    probed: dict[Any, Probe] = {}
    kept: dict[Any, list[PageText]] = {}
    really_probe, really_read = PdfProcess.probe, PdfProcess.read

    def probe(process: PdfProcess, document: Pages, limits: Limits) -> Probe:
        key = _key(document)
        found = probed.get(key) or really_probe(process, document, limits)
        if found.error is None:
            probed[key] = found
        return found

    def read(process: PdfProcess, wanted: Pages, limits: Limits, *tries: int) -> list[PageText]:
        key = (*_key(wanted), wanted.first, wanted.last)
        found = kept.get(key) or really_read(process, wanted, limits, *tries)
        if all(page.error is None for page in found):
            kept[key] = found
        return list(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PdfProcess, "probe", probe)
        patch.setattr(PdfProcess, "read", read)
        yield


def _key(document: Pages) -> tuple[str, str]:
    return hashlib.sha256(Path(document.path).read_bytes()).hexdigest(), document.reader
