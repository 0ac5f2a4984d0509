"""The decision: what the report's first page says, with another measure or a slice of the queries where one asks."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ragassay.evaluate.report.page import read_results

from ..asked import bench_of
from ..page import render


def show(request: Request) -> Response:
    """The page; a sentence where there are no figures yet."""
    bench = bench_of(request)
    if not bench.workspace.figures.exists():
        return render(request, "said.html.j2", bench, said="There are no figures yet: the run has not come to compare.")
    return render(request, "decision.html.j2", bench, r=read_results(bench.workspace.figures))


ROUTES = (("/decision", show, ["GET"]),)
