"""Which pictures are taken: every view on a desktop, on a phone, in the dark and as it is printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchmarks.pictures.scene import DEMO, ONCE, UNDER_WAY

Form = Literal["desktop", "phone", "dark", "print"]

SIZES: dict[Form, tuple[int, int]] = {
    "desktop": (1280, 860),
    "phone": (390, 844),
    "dark": (1280, 860),
    "print": (794, 1123),
}
"""Width and height in CSS pixels; of print those of A4."""

FORMS: tuple[Form, ...] = tuple(SIZES)


@dataclass(frozen=True)
class View:
    """Where it is found: `path` below the server, then what is clicked, one after the other; who: the labeller.

    to: what is scrolled to, for a picture of what stands further down.
    """

    name: str
    path: str
    click: tuple[str, ...] = ()
    who: str = ""
    to: str = ""


FIRST_QUERY = "table.queries tbody th a"
DISPUTED = f"{DEMO}/queries?sort=spread"
SHEET = "ul.sheets li:has-text('{}') h3 a"
PASSAGES, ANSWERS = SHEET.format("passages"), SHEET.format("by a criterion")
VIEWS = (
    View("decision", f"{DEMO}/decision"),
    View("decision-agents", f"{DEMO}/decision", to="#agents"),
    View("queries", DISPUTED),
    View("query", DISPUTED, (FIRST_QUERY,)),
    View("evidence", DISPUTED, (FIRST_QUERY, "ol.passages-shown a[href*='/page/']")),
    View("runs", "runs"),
    View("compare", f"{DEMO}/compare?with={ONCE}&measure=win_rate&agent=bm25-rag-fusion"),
    View("test-set", f"{DEMO}/test-set"),
    View("run", f"{ONCE}/progress"),
    View("label", f"{DEMO}/labels", who="Ann"),
    View("label-passage", f"{DEMO}/labels", (PASSAGES,), who="Ann"),
    View("label-answer", f"{DEMO}/labels", (ANSWERS,), who="Ben"),
    View("label-game", f"{DEMO}/labels", (PASSAGES,), who="Cem"),
)
LABELLED = (
    View("label-done", f"{DEMO}/labels", who="Ann", to=".label-figures"),
    View("label-agreement", f"{DEMO}/labels", who="Ann", to=".label-figures > h3"),
)
"""When everybody is through with the sheet."""
UNDER_WAY_NOW = (View("run-under-way", f"{UNDER_WAY}/progress"),)
REPORT = View("report", "report.html")
