"""The shares of flips, as the report shows them."""

from __future__ import annotations

from ragassay.records import Figure


def share_of(figure: Figure) -> str:
    """In percent, with its interval where there is one; a dash where there is no value."""
    if figure.value is None:
        return "–"
    if figure.ci_low is None or figure.ci_high is None:
        return f"{figure.value:.0%}"
    return f"{figure.value:.0%} ({figure.ci_low:.0%} to {figure.ci_high:.0%})"
