"""The pictures of docs/workbench/: the workbench over the demo's results, as Debian's Chromium shows it.

    python -m benchmarks.tables.workbench_pictures [RESULTS]       default: results/avr-libc, after `make demo`

RESULTS is served as it is, with a copy beside it to compare with. Each picture is reduced to its 256
most frequent colours, so that it weighs little. Chromium is looked for at /usr/bin/chromium.
"""

from __future__ import annotations

import base64
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CORPUS, OUT = "corpora/avr-libc", Path("docs/workbench")
LARGEST_BYTES = 120 * 1024
PIXELS = """async (source) => {
  const image = new Image(); image.src = source; await image.decode();
  const canvas = document.createElement("canvas"); canvas.width = image.width; canvas.height = image.height;
  const context = canvas.getContext("2d"); context.drawImage(image, 0, 0);
  const all = context.getImageData(0, 0, image.width, image.height).data;
  let text = ""; for (let i = 0; i < all.length; i += 32768) text += String.fromCharCode(...all.subarray(i, i + 32768));
  return [image.width, image.height, btoa(text)];
}"""


@dataclass(frozen=True)
class Shot:
    """One picture: where it is taken (below the folder's name), and on what. click: selectors, one after the other."""

    name: str
    path: str
    click: tuple[str, ...] = ()
    width: int = 1280
    height: int = 860
    colours: Literal["light", "dark"] = "light"
    media: Literal["screen", "print"] = "screen"


FIRST_QUERY = "table.queries tbody th a"
SHOTS = (
    Shot("decision", "decision"),
    Shot("decision-phone", "decision", width=390, height=844),
    Shot("decision-print", "decision", width=794, height=1123, media="print"),
    Shot("queries-dark", "queries?sort=spread", colours="dark"),
    Shot("query", "queries?sort=spread", (FIRST_QUERY,)),
    Shot("evidence", "queries?sort=spread", (FIRST_QUERY, "ol.passages-shown a[href*='/page/']"), height=760),
    Shot("compare", "compare"),
    Shot("label", "labels"),
    Shot("test-set", "test-set"),
    Shot("run-phone", "progress", width=390, height=844),
)


def take(browser: Browser, shot: Shot, url: str, name: str) -> bytes:
    """The picture as a small PNG."""
    context = browser.new_context(viewport={"width": shot.width, "height": shot.height}, color_scheme=shot.colours)
    page = context.new_page()
    page.emulate_media(media=shot.media)
    page.goto(f"{url}/{name}/{shot.path}", wait_until="networkidle")
    for selector in shot.click:
        page.locator(selector).first.click()
        page.wait_for_load_state("networkidle")
    made = small_png(pixels_of(context.new_page(), page.screenshot()))
    context.close()
    return made


def pixels_of(page: Page, picture: bytes) -> NDArray[np.uint8]:
    """(height, width, 3) of a PNG, as a page's canvas decodes it."""
    width, height, data = page.evaluate(PIXELS, "data:image/png;base64," + base64.b64encode(picture).decode())
    return np.frombuffer(base64.b64decode(data), np.uint8).reshape(height, width, 4)[..., :3]


def small_png(pixels: NDArray[np.uint8], n_colours: int = 256) -> bytes:
    """A PNG with a palette of the most frequent colours; every other pixel gets the nearest."""
    height, width, _ = pixels.shape
    packed = pixels.reshape(-1, 3).astype(np.int64) @ (65536, 256, 1)
    found, which, counts = np.unique(packed, return_inverse=True, return_counts=True)
    colours = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1)
    kept = colours[np.argsort(-counts)[:n_colours]]
    nearest = np.array([((kept - colour) ** 2).sum(1).argmin() for colour in colours], np.uint8)
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = nearest[which.reshape(-1)].reshape(height, width)
    palette = kept.astype(np.uint8).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", palette), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def main() -> None:
    """Write the pictures, and print what each weighs."""
    from playwright.sync_api import sync_playwright

    results = Path(sys.argv[1] if len(sys.argv) > 1 else "results/avr-libc")
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        other = shutil.copytree(results, Path(folder) / "other", ignore=shutil.ignore_patterns("workbench"))
        words = ["serve", CORPUS, CORPUS, "--results", str(results), "--results", str(other), "--port", "0"]
        with subprocess.Popen([sys.executable, "-m", "ragassay", *words], stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                found = re.search(r"http://[\d.:]+", server.stdout.readline())
                assert found
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
                    for shot in SHOTS:
                        write(shot.name, take(browser, shot, found[0], results.name))
                    browser.close()
            finally:
                server.terminate()


def write(name: str, picture: bytes) -> None:
    """Raises ValueError for one that is too large for the docs."""
    if len(picture) > LARGEST_BYTES:
        raise ValueError(f"{name}.png: {len(picture):,} bytes")
    (OUT / f"{name}.png").write_bytes(picture)
    print(f"docs/workbench/{name}.png  {len(picture) / 1024:.0f} KB")


if __name__ == "__main__":
    main()
