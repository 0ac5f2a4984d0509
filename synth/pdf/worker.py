"""The worker process that reads documents: run as a module, it answers one JSON request a line with one JSON line.

    {"path": …, "reader": …, "memory": bytes}   →  {"pages": n, "outline": [[page, level, title], …]}
    the same and "first": 1, "last": 9          →  {"texts": [{"text": …, "downwards": …} or {"error": …}, …]}
    {"path": …, "convert": "html"}              →  {"pages": [text, …], "outline": …, "printed": …}
    a document that cannot be opened            →  {"error": …}

The document opened last stays open, since the next request is most often about it too.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any

from ragassay.cores import memory_limited, serve, too_much

from ..formats import UnreadableDocument, convert
from .readers import OpenPdf, UnreadablePdf, open_pdf


def main() -> None:
    """Serve until standard input ends."""
    gc.set_threshold(100_000)  # a document is many objects that stay: looking through them takes a tenth of the time
    serve(_Documents().answer)


class _Documents:
    def __init__(self) -> None:
        self._key: tuple[str, str] | None = None
        self._pdf: OpenPdf | None = None

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if "convert" in request:
            try:
                return convert(request["path"], request["convert"])._asdict()
            except UnreadableDocument as error:
                return {"error": str(error)}
        with memory_limited(request["memory"]):
            if "first" in request:
                pages = range(request["first"], request["last"] + 1)
                return {"texts": [self._once_more(request, page) for page in pages]}
            return self._once_more(request)

    def _once_more(self, request: Mapping[str, Any], page: int | None = None) -> dict[str, Any]:
        """What is asked of the document, or of a page, or its error; where memory is short, by a reader that remembers
        no page."""
        path, reader = request["path"], request["reader"]
        for _ in range(2):
            try:
                if self._pdf is None or self._key != (path, reader):
                    self._pdf = None
                    self._pdf, self._key = open_pdf(path, reader), (path, reader)
                if page:
                    return self._pdf.page(page)._asdict()
                return {"pages": self._pdf.n_pages, "outline": self._pdf.outline()}
            except UnreadablePdf as error:
                return {"error": str(error)}
            except MemoryError:
                self._pdf = None
            gc.collect()
        return {"error": too_much(request["memory"])}


if __name__ == "__main__":
    main()
