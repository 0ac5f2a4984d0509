"""The worker process that draws PDF pages: run as a module, it answers one JSON request a line with one JSON line.

    {"path": …, "page": 1, "memory": bytes}  →  {"width": …, "height": …, "png": …, "text": …,
                                                 "boxes": [[x0, y0, x1, y1] or null, …]}
    what cannot be drawn                     →  {"error": …}

`png` is in base64, `text` has PDFium's characters in its order, and each box is that of a character, in ten-thousandths
of the picture's width and height from its upper left corner; null for a character that is not drawn.
"""

from __future__ import annotations

import base64
import ctypes
import struct
import zlib
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.cores import memory_limited, serve


def png_of(pixels: NDArray[np.uint8]) -> bytes:
    """The file for `pixels` of shape (height, width, 3), red, green and blue."""
    height, width, _ = pixels.shape
    grey = bool((pixels[..., 0] == pixels[..., 1]).all() and (pixels[..., 1] == pixels[..., 2]).all())
    rows = np.ascontiguousarray(pixels[..., 0] if grey else pixels).reshape(height, -1)
    unfiltered = np.zeros((height, rows.shape[1] + 1), np.uint8)
    unfiltered[:, 1:] = rows
    head = struct.pack(">IIBBBBB", width, height, 8, 0 if grey else 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(unfiltered.tobytes(), 2)), (b"IEND", b""))
    made = b"\x89PNG\r\n\x1a\n"
    for kind, data in parts:
        made += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return made


WIDTH = 1240
"""Of the picture, in pixels: 150 to the inch on A4."""

MOST_PIXELS = 6_000_000
SCALE = 10_000


def main() -> None:
    """Serve until standard input ends."""
    serve(_answer)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    import pypdfium2

    page = request["page"]
    try:
        with memory_limited(request["memory"]), closing(pypdfium2.PdfDocument(request["path"])) as pdf:
            if not 1 <= page <= len(pdf):
                return {"error": f"the document has {len(pdf)} pages now, and no page {page}"}
            with closing(pdf[page - 1]) as opened, closing(opened.get_textpage()) as textpage:
                return _drawn(opened) | characters(opened, textpage)
    except Exception as error:  # noqa: BLE001  (whatever it is, the page says it)
        return {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}


def _drawn(page: Any) -> dict[str, Any]:
    width, height = page.get_size()
    scale = min(WIDTH / width, (MOST_PIXELS / (width * height)) ** 0.5)
    with closing(page.render(scale=scale, rev_byteorder=True)) as bitmap:
        pixels = np.asarray(bitmap.to_numpy())[..., :3]
        png = base64.b64encode(png_of(pixels)).decode()
        return {"width": bitmap.width, "height": bitmap.height, "png": png}


def characters(page: Any, textpage: Any) -> dict[str, Any]:
    """`text` and `boxes` of a page of PDFium's and its text page."""
    from pypdfium2 import raw

    count = textpage.count_chars()
    codes = [raw.FPDFText_GetUnicode(textpage, index) for index in range(count)]
    text = "".join(chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\x00" for code in codes)
    boxes = [None if character.isspace() else _box(page, textpage, n) for n, character in enumerate(text)]
    return {"text": text, "boxes": boxes}


def _box(page: Any, textpage: Any, index: int) -> list[int] | None:
    """Where a character stands, its line's height included, whichever way the page is turned."""
    from pypdfium2 import raw

    rect = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(textpage, index, rect):
        return None
    x, y = ctypes.c_int(), ctypes.c_int()
    corners = []
    for across, up in ((rect.left, rect.top), (rect.right, rect.bottom)):
        if not raw.FPDF_PageToDevice(page, 0, 0, SCALE, SCALE, 0, across, up, x, y):
            return None
        corners.append((x.value, y.value))
    (x0, x1), (y0, y1) = (sorted(ends) for ends in zip(*corners, strict=True))
    return [x0, y0, x1, y1] if x1 > x0 and y1 > y0 else None


if __name__ == "__main__":
    main()
