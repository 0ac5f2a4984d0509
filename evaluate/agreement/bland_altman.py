"""Bland-Altman: by how much the judge's labels lie above or below people's, and how far a single one may (Figure 4).

Bland and Altman, The Lancet 327, 1986: bias is the mean of judge - human, the limits of agreement bias -+ 1.96 standard
deviations. The plot shows each difference over the mean of the two labels, points as large as they are many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from html import escape
from math import sqrt

import numpy as np

from ragassay.arrays import Floats
from ragassay.records import Figure

from .crosstab import Crosstab

LIMIT_SD = 1.96
WIDTH, HEIGHT, LEFT, TOP = 640, 380, 60, 20
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1f }}
svg {{ width: 100%; height: auto }} text {{ font: 12px system-ui, sans-serif; fill: #44474e }}
.dot {{ fill: #2f5d9b; fill-opacity: .45; stroke: #2f5d9b }} .axis {{ stroke: #8e9099 }} .zero {{ stroke: #c4c6cf }}
.bias {{ stroke: #9b2f2f; stroke-width: 2 }} .limit {{ stroke: #9b2f2f; stroke-dasharray: 6 4 }}
.band {{ fill: #9b2f2f; fill-opacity: .12 }}
</style></head><body>
{body}
</body></html>
"""


def bias_and_limits(table: Crosstab, counts: Floats, values: Floats) -> dict[str, Floats]:
    """`bias`, `limit_low`, `limit_high` for each of the leading entries of `counts` (..., cells); NaN below two rows.

    values: (n_labels,) the labels as numbers. The standard deviation divides by n - 1.
    """
    gap, n = values[table.y] - values[table.x], counts.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        bias = counts @ gap / n
        spread = np.maximum(counts @ gap**2 - n * bias**2, 0.0)
        sd = np.sqrt(spread / np.where(n > 1, n - 1, np.nan))
    return {"bias": bias, "limit_low": bias - LIMIT_SD * sd, "limit_high": bias + LIMIT_SD * sd}


def page(plots: Mapping[str, tuple[Counter[tuple[float, float]], Mapping[str, Figure]]]) -> str:
    """One self-contained HTML page: title to (how often each (human, judge) pair occurs, the three figures)."""
    body = "\n".join(_section(title, *plot) for title, plot in plots.items())
    return _PAGE.format(title="Agreement of judge and people (Bland-Altman)", body=body)


def _section(title: str, pairs: Counter[tuple[float, float]], figures: Mapping[str, Figure]) -> str:
    words = "; ".join(f"{name.replace('_', ' ')} {_words(figure)}" for name, figure in figures.items())
    caption = f"{sum(pairs.values()):,} pairs of labels. {words}. Shaded: 95% intervals."
    return f"<h1>{escape(title)}</h1>\n{plot(title, pairs, figures)}\n<p>{escape(caption)}</p>"


def _words(figure: Figure) -> str:
    if figure.value is None:
        return "undefined"
    interval = "" if figure.ci_low is None else f" [{figure.ci_low:.3g}, {figure.ci_high:.3g}]"
    return f"{figure.value:.3g}{interval}"


def plot(title: str, pairs: Counter[tuple[float, float]], figures: Mapping[str, Figure]) -> str:
    """The plot as inline SVG: differences (judge - human) over means, bias and limits with their intervals."""
    points = sorted(((a + b) / 2, b - a, count) for (a, b), count in pairs.items())
    across = _ends([mean for mean, _, _ in points])
    ends = [v for f in figures.values() for v in (f.value, f.ci_low, f.ci_high) if v is not None]
    up = _ends([gap for _, gap, _ in points] + ends + [0.0])
    parts = [_level("zero", 0.0, up), *_axes(across, up)]
    for name, figure in figures.items():
        if figure.value is not None:
            parts += [*_band(figure, up), _level("bias" if name == "bias" else "limit", figure.value, up)]
    most = max(pairs.values(), default=1)
    for mean, gap, count in points:
        radius = 3 + 11 * sqrt(count / most) if most > 1 else 4
        place = f'cx="{_x(mean, across):.1f}" cy="{_y(gap, up):.1f}" r="{radius:.1f}"'
        said = f"<title>mean {mean:.4g}, difference {gap:.4g}: {count:,}</title>"
        parts.append(f'<circle class="dot" {place}>{said}</circle>')
    label = escape(f"Bland-Altman plot, {title}", quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _ends(values: list[float]) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = (high - low or 1.0) * 0.08
    return low - margin, high + margin


def _x(value: float, across: tuple[float, float]) -> float:
    return LEFT + (value - across[0]) / (across[1] - across[0]) * (WIDTH - LEFT - 20)


def _y(value: float, up: tuple[float, float]) -> float:
    return TOP + (up[1] - value) / (up[1] - up[0]) * (HEIGHT - TOP - 50)


def _level(css: str, value: float, up: tuple[float, float]) -> str:
    y = _y(value, up)
    return f'<line class="{css}" x1="{LEFT}" x2="{WIDTH - 20}" y1="{y:.1f}" y2="{y:.1f}"/>'


def _band(figure: Figure, up: tuple[float, float]) -> list[str]:
    if figure.ci_low is None or figure.ci_high is None:
        return []
    top, bottom = _y(figure.ci_high, up), _y(figure.ci_low, up)
    width = WIDTH - 20 - LEFT
    return [f'<rect class="band" x="{LEFT}" y="{top:.1f}" width="{width}" height="{bottom - top:.1f}"/>']


def _axes(across: tuple[float, float], up: tuple[float, float]) -> list[str]:
    foot = HEIGHT - 50
    parts = [f'<path class="axis" fill="none" d="M{LEFT} {TOP}V{foot}H{WIDTH - 20}"/>']
    for tick in np.linspace(*across, 6)[1:-1]:
        parts.append(f'<text x="{_x(tick, across):.1f}" y="{foot + 16}" text-anchor="middle">{tick:.2g}</text>')
    for tick in np.linspace(*up, 7)[1:-1]:
        parts.append(f'<text x="{LEFT - 6}" y="{_y(tick, up) + 4:.1f}" text-anchor="end">{tick:.2g}</text>')
    parts.append(f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">mean of both labels</text>')
    middle = HEIGHT / 2
    parts.append(f'<text transform="translate(14 {middle:.0f}) rotate(-90)" text-anchor="middle">judge - human</text>')
    return parts
