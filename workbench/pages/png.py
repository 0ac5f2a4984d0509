"""Pixels as a PNG file (W3C Portable Network Graphics, third edition), grey where nothing on the page has a colour."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_GREY, _RGB = 0, 2


def png_of(pixels: NDArray[np.uint8]) -> bytes:
    """The file for `pixels` of shape (height, width, 3), red, green and blue."""
    height, width, _ = pixels.shape
    grey = bool((pixels[..., 0] == pixels[..., 1]).all() and (pixels[..., 1] == pixels[..., 2]).all())
    rows = np.ascontiguousarray(pixels[..., 0] if grey else pixels).reshape(height, -1)
    unfiltered = np.zeros((height, rows.shape[1] + 1), np.uint8)
    unfiltered[:, 1:] = rows
    head = struct.pack(">IIBBBBB", width, height, 8, _GREY if grey else _RGB, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(unfiltered.tobytes(), 2)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
