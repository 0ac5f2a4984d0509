"""Words that the parts of the page share."""

from __future__ import annotations

from ragassay.records import Figure

FEWEST = 9
"""Written questions below which nothing is said by parts of them."""
NO_SCREENING = (
    "There is no screening yet, which this part needs: add [[retriever]] tables to experiment.toml and run "
    "`ragassay screen`."
)


def shown(figure: Figure) -> str:
    """`0.62 (0.55 to 0.70; n 36, 2 failed)`."""
    if figure.value is None:
        return "not known"
    ends = "" if figure.ci_low is None or figure.ci_high is None else f"{figure.ci_low:.2f} to {figure.ci_high:.2f}; "
    failed = f", {figure.n_failed:,} failed" if figure.n_failed else ""
    return f"{figure.value:.2f} ({ends}n {figure.n:,}{failed})"


def above(figure: Figure | None, limit: float = 0.0) -> bool:
    """Whether the whole interval lies above `limit`."""
    return figure is not None and figure.ci_low is not None and figure.ci_low > limit
