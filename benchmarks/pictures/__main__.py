"""The pictures of docs/workbench/ and docs/report.png: the workbench and the report over the demo's results.

    python -m benchmarks.pictures [RESULTS [FOLDER]]       default: results/avr-libc, after `make demo`

Debian's Chromium shows them (/usr/bin/chromium); each picture is reduced to its 256 most frequent colours, so that it
weighs little. With a FOLDER the whole of each page and every printed page go there instead, for looking at.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.pictures.png import pixels_of, printed, small_png
from benchmarks.pictures.scene import DEMO, ONCE, UNDER_WAY, label_the_rest, make_scene, under_way
from benchmarks.pictures.shots import FORMS, LABELLED, REPORT, SIZES, UNDER_WAY_NOW, VIEWS, Form, View

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DOCS = Path("docs")
HEAD_OF_REPORT = 1810
LARGEST_BYTES = 120 * 1024
STILL_WORKING = "[hx-trigger='every 1s']"
"""What the page looks at again until it is worked out, as the figures that labels correct are."""


@dataclass(frozen=True)
class Camera:
    """A browser, and where its pictures go; whole: all of each page."""

    browser: Browser
    out: Path
    whole: bool

    def take(self, views: Iterable[View], base: str) -> None:
        """Every form of each view."""
        for view in views:
            for form in FORMS:
                self._take(view, form, base)

    def head(self, view: View, base: str, out: Path, height: int) -> None:
        """One tall picture on a desktop."""
        with self._opened(view, "desktop", base, height) as page:
            out.write_bytes(small_png(pixels_of(page.context.new_page(), page.screenshot())))

    def _take(self, view: View, form: Form, base: str) -> None:
        if form == "print" and view.to and not self.whole:
            return
        with self._opened(view, form, base) as page:
            if form == "print":
                pdf = page.pdf(format="A4", prefer_css_page_size=True, print_background=True)
                pictures = [small_png(one) for one in printed(pdf, None if self.whole else 1)]
            else:
                taken = page.screenshot(full_page=self.whole)
                pictures = [small_png(pixels_of(page.context.new_page(), taken))]
        for number, picture in enumerate(pictures, 1):
            self._write(f"{view.name}-{form}" + (f"-{number}" if number > 1 else ""), picture)

    @contextmanager
    def _opened(self, view: View, form: Form, base: str, height: int | None = None) -> Iterator[Page]:
        width, usual = SIZES[form]
        scheme = "dark" if form == "dark" else "light"
        context = self.browser.new_context(
            viewport={"width": width, "height": height or usual}, color_scheme=scheme, reduced_motion="reduce"
        )
        if view.who:
            context.add_cookies([{"name": "ragassay-person", "value": view.who, "url": base}])
        page = context.new_page()
        page.goto(f"{base}/{view.path}", wait_until="networkidle")
        for selector in view.click:
            page.locator(selector).first.click()
            page.wait_for_load_state("networkidle")
        page.wait_for_selector(STILL_WORKING, state="detached")
        if view.to and not self.whole:
            page.locator(view.to).first.evaluate("one => one.scrollIntoView()")
        yield page
        context.close()

    def _write(self, name: str, picture: bytes) -> None:
        """Raises ValueError for one that is too large for the docs."""
        if len(picture) > LARGEST_BYTES and not self.whole:
            raise ValueError(f"{name}.png: {len(picture):,} bytes")
        (self.out / f"{name}.png").write_bytes(picture)
        print(f"{self.out / name}.png  {len(picture) / 1024:.0f} KB", flush=True)


@contextmanager
def served(words: list[str], root: Path) -> Iterator[str]:
    """The address of `ragassay WORDS`, run in `root`."""
    command = [sys.executable, "-m", "ragassay", *words, "--port", "0"]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://[\d.:]+", server.stdout.readline())
            assert found
            yield found[0]
        finally:
            server.terminate()


def main() -> None:
    """Write the pictures, and print what each weighs."""
    from playwright.sync_api import sync_playwright

    results = Path(sys.argv[1] if len(sys.argv) > 1 else "results/avr-libc")
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else DOCS / "workbench"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        camera = Camera(browser, out, whole=len(sys.argv) > 2)
        scene = make_scene(Path(folder), results.resolve())
        camera.head(REPORT, results.resolve().as_uri(), out.parent / "report.png", HEAD_OF_REPORT)
        camera.take([REPORT], results.resolve().as_uri())
        with served(scene.words(DEMO, ONCE), scene.root) as url:
            camera.take(VIEWS, url)
            label_the_rest(scene)
            camera.take(LABELLED, url)
        with served(scene.words(UNDER_WAY), scene.root) as url, under_way(scene):
            camera.take(UNDER_WAY_NOW, url)
        browser.close()


if __name__ == "__main__":
    main()
