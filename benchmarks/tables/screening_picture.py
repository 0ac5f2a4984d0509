"""The report's picture of the front as a file of its own, for pages that show no HTML."""

from __future__ import annotations

import re

from markupsafe import escape

from ragassay.evaluate.report.plots import HEIGHT
from ragassay.evaluate.report.screening import badges, panels
from ragassay.evaluate.screening.screened import ScreenResults
from ragassay.text import one_line

_WIDTH, _GAP, _HEAD, _LINE = 470, 40, 34, 22
_STYLE = """
svg { --card: #fff; --ink: #1d2126; --faint: #8a929b; --line: #e4e1da; --accent: #17614f; }
@media (prefers-color-scheme: dark) {
svg { --card: #1b1f23; --ink: #e6e7e4; --faint: #7b838a; --line: #2d3338; --accent: #7fcab2; } }
text { font: 13px -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; fill: var(--ink); }
.title { font-weight: 650; } .bed { fill: var(--card); }
.scatter .tick { font-size: 11px; fill: var(--faint); } .grid { stroke: var(--line); }
.off { fill: var(--faint); opacity: .4; } .on { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.fin { fill: var(--accent); } .ci { stroke: var(--accent); stroke-width: 1.5; opacity: .45; }
.badge { overflow: visible; } .badge line { stroke: var(--accent); }
.badge circle { fill: var(--accent); stroke: var(--card); }
.badge text { font-size: 11px; font-weight: 700; fill: var(--card); }
.badge.base circle { fill: var(--ink); } .badge.base line { stroke: var(--ink); }
"""


def picture(results: ScreenResults) -> str:
    """A whole SVG: the panels side by side, and below them who the badges are."""
    drawn, key = panels(results), _key(results)
    width, height = 2 * _WIDTH + 3 * _GAP // 2, _HEAD + HEIGHT + 20 + _LINE * ((len(key) + 1) // 2) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="bed" width="{width}" height="{height}" rx="10"/>',
    ]
    for place, panel in enumerate(drawn):
        x = _GAP // 2 + place * (_WIDTH + _GAP)
        parts.append(f'<text class="title" x="{x}" y="24">{escape(panel.title)}</text>')
        plot = re.sub(r"<title>.*?</title>", "", panel.plot)
        parts.append(f'<svg x="{x}" y="{_HEAD}" width="{_WIDTH}" height="{HEIGHT}">{plot}</svg>')
    for place, (mark, words) in enumerate(key):
        x, y = _GAP // 2 + place % 2 * (_WIDTH + _GAP), _HEAD + HEIGHT + 24 + place // 2 * _LINE
        parts.append(f'<svg x="{x + 9}" y="{y - 4}" overflow="visible">{mark}</svg>')
        parts.append(f'<text x="{x + 26}" y="{y}">{escape(words)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _key(results: ScreenResults) -> list[tuple[str, str]]:
    rows = [
        ('<circle class="on" r="4"/>', "on the front of quality, latency and tokens"),
        ('<circle class="off" r="4"/>', f"the others of {len(results.variants):,} variants"),
    ]
    for name, badge in badges(results).items():
        css = "badge base" if badge == "B" else "badge"
        mark = f'<g class="{css}"><circle r="9"/><text y="4" text-anchor="middle">{badge}</text></g>'
        rows.append((mark, one_line(name) + (" (baseline)" if badge == "B" else "")))
    return rows
