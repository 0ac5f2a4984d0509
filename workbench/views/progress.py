"""A run under way: every stage's state, what is done and what failed, and what it has cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import Response

from ragassay.experiment.workspace import Standing, Workspace
from ragassay.files import digest_json
from ragassay.records import OWN_SYSTEM, StageUsage

from ..asked import bench_of, is_part, render
from ..index.read import Index
from . import View


@dataclass(frozen=True)
class StageState:
    """A stage: done, stale (what it was made from has changed), missing, or running.

    why: of one that would run, the reason. n_records, n_failed, notices and usage: its manifest's, of a stage that has
    one. at_work: how far the running one is, or was when the run was killed in it.
    """

    name: str
    state: Literal["done", "stale", "missing", "running"]
    why: str = ""
    n_records: int | None = None
    n_failed: int | None = None
    notices: tuple[str, ...] = ()
    usage: tuple[StageUsage, ...] = ()
    at_work: Standing | None = None

    @property
    def broken_off(self) -> bool:
        """Whether the run was killed in it."""
        return self.at_work is not None and self.state != "running"


StatesOf = Callable[[Workspace], tuple[StageState, ...]]
"""The stages of a run, in their order."""


SENTENCES = 5
"""Errors of one file that are shown, the most frequent first."""

_ERRORS = {"answers": "answers", "labels": "judgments of passages and answers", "games": "games"}


def show(request: Request) -> Response:
    """The page; htmx asks for the part again, every 2 s while a stage runs, and gets 204 where it is as before."""
    bench, say = bench_of(request), request.app.state.states
    if say is None:
        return render(request, "said.html.j2", bench, said="Nothing here tells how far a run is.")
    states = say(bench.workspace)
    index = request.app.state.keeper.index(bench)
    given: dict[str, Any] = {
        "states": states,
        "running": any(one.state == "running" for one in states),
        "spent": spent_usd(states),
        "unmeasured": sum(row.n_unmeasured for one in states for row in one.usage),
        "broken": next((one for one in states if one.broken_off), None),
        "errors": _errors(index) if index is not None else (),
        "corpus": str(bench.workspace.corpus),
    }
    given["seen"] = digest_json(repr(given))[:12]
    if is_part(request) and request.query_params.get("seen") == given["seen"]:
        return Response(status_code=204)
    return render(request, "progress_part.html.j2" if is_part(request) else "progress.html.j2", bench, **given)


def spent_usd(states: Sequence[StageState]) -> float | None:
    """US dollars of all stages, the running one's among them; None where no price is known. Not the user's systems'."""
    for one in states:
        if one.state == "running" and one.at_work and one.at_work.spent_usd is not None:
            return one.at_work.spent_usd  # it counts from the run's beginning
    rows = [row for one in states for row in one.usage if not row.model.startswith(OWN_SYSTEM)]
    known = [row.cost_usd for row in rows if row.cost_usd is not None]
    return sum(known) if known else None


def _errors(index: Index) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """(what, how many failed, the most frequent errors with how many) of each file that has failures."""
    found = []
    for table, name in _ERRORS.items():
        sql = f"SELECT error, count(*) AS n FROM {table} WHERE error IS NOT NULL GROUP BY error ORDER BY n DESC, error"  # noqa: S608
        if rows := [(row["error"], row["n"]) for row in index.rows(sql)]:
            found.append((name, sum(n for _, n in rows), rows[:SENTENCES]))
    return found


class Progress(View):
    """How far a run is."""

    name, title, order = "progress", "Run", 60
    needs_corpus = True
    routes = (("/progress", show, ["GET"]),)
