"""The worker process that reads documents: run as a module, it answers one JSON request a line with one JSON line.

    {"path": …, "reader": …}                          →  {"pages": n, "outline": [[page, level, title], …]}
    {"path": …, "reader": …, "first": 1, "last": 9}   →  {"texts": [{"text": …, "downwards": …} or {"error": …}, …]}
    {"path": …, "convert": "html"}                    →  {"pages": [text, …], "outline": …, "printed": …}
    a document that cannot be opened                  →  {"error": …}

The document opened last stays open, since the next request is most often about it too.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, cast

from ..formats.convert import convert
from ..formats.paging import UnreadableDocument
from .readers import OpenPdf, ReaderName, UnreadablePdf, open_pdf


def main() -> None:
    """Serve until standard input ends. Whatever a library prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    documents = _Documents()
    for line in sys.stdin:
        answers.write(json.dumps(documents.answer(json.loads(line))) + "\n")
        answers.flush()


class _Documents:
    def __init__(self) -> None:
        self._key: tuple[str, str] | None = None
        self._pdf: OpenPdf | None = None

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if "convert" in request:
            return _converted(request["path"], request["convert"])
        try:
            pdf = self._open(request["path"], request["reader"])
        except UnreadablePdf as error:
            return {"error": str(error)}
        if "first" not in request:
            return {"pages": pdf.page_count(), "outline": pdf.outline()}
        return {"texts": [_text_or_error(pdf, page) for page in range(request["first"], request["last"] + 1)]}

    def _open(self, path: str, reader: str) -> OpenPdf:
        if self._pdf is None or self._key != (path, reader):
            self._pdf = None
            self._pdf, self._key = open_pdf(path, cast(ReaderName, reader)), (path, reader)
        return self._pdf


def _converted(path: str, kind: str) -> dict[str, Any]:
    try:
        return convert(path, kind)._asdict()
    except UnreadableDocument as error:
        return {"error": str(error)}


def _text_or_error(pdf: OpenPdf, page: int) -> dict[str, str | bool]:
    try:
        return pdf.page(page)._asdict()
    except UnreadablePdf as error:
        return {"error": str(error)}


if __name__ == "__main__":
    main()
