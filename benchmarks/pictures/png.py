"""Pictures that weigh little: pixels from a PNG or a printed page, and a PNG of 256 colours of them."""

from __future__ import annotations

import base64
import struct
import zlib
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from playwright.sync_api import Page

POINTS_PER_INCH = 72
PIXELS = """async (source) => {
  const image = new Image(); image.src = source; await image.decode();
  const canvas = document.createElement("canvas"); canvas.width = image.width; canvas.height = image.height;
  const context = canvas.getContext("2d"); context.drawImage(image, 0, 0);
  const all = context.getImageData(0, 0, image.width, image.height).data;
  let text = ""; for (let i = 0; i < all.length; i += 32768) text += String.fromCharCode(...all.subarray(i, i + 32768));
  return [image.width, image.height, btoa(text)];
}"""


def pixels_of(page: Page, picture: bytes) -> NDArray[np.uint8]:
    """(height, width, 3) of a PNG, as a page's canvas decodes it."""
    width, height, data = page.evaluate(PIXELS, "data:image/png;base64," + base64.b64encode(picture).decode())
    return np.frombuffer(base64.b64decode(data), np.uint8).reshape(height, width, 4)[..., :3]


def printed(pdf: bytes, most: int | None = None, dots_per_inch: int = 96) -> list[NDArray[np.uint8]]:
    """(height, width, 3) of each page of a PDF, as PDFium draws it; most: how many pages at most, None for all."""
    import pypdfium2

    made = []
    with pypdfium2.PdfDocument(pdf) as document:
        for page in islice(document, most):
            drawn = page.render(scale=dots_per_inch / POINTS_PER_INCH, rev_byteorder=True)
            made.append(drawn.to_numpy()[..., :3].copy())
            drawn.close()
            page.close()
    return made


def small_png(pixels: NDArray[np.uint8], n_colours: int = 256) -> bytes:
    """A PNG with a palette; every other pixel gets the nearest of its colours.

    A quarter of the palette are the most frequent colours. After these, of colours that are much alike (4 bits of each
    channel) one stands in it, so that the many greys of letters leave room for the few pixels of other colours.
    """
    height, width, _ = pixels.shape
    packed = pixels.reshape(-1, 3).astype(np.int64) @ (65536, 256, 1)
    found, which, counts = np.unique(packed, return_inverse=True, return_counts=True)
    colours = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1)
    often = np.argsort(-counts, kind="stable")
    _, first = np.unique((colours[often] >> 4) @ (256, 16, 1), return_index=True)
    chosen = np.union1d(np.arange(min(n_colours // 4, len(often))), np.sort(first)[: n_colours - n_colours // 4])
    kept = colours[often[chosen]]
    nearest = np.array([((kept - colour) ** 2).sum(1).argmin() for colour in colours], np.uint8)
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = nearest[which.reshape(-1)].reshape(height, width)
    palette = kept.astype(np.uint8).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", palette), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
