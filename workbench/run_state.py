"""How far a run is, as the command line tells it: the workbench shows it and knows nothing of stages itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ragassay.experiment.workspace import Workspace
from ragassay.records import StageUsage


@dataclass(frozen=True)
class StageState:
    """A stage: done, stale (what it was made from has changed), missing, or running.

    why: of one that would run, the reason. n_records, n_failed, notices and usage: its manifest's, of a stage that has
    one. At work: of the running one, what is being done; counts `n_done` (`n_cached` of them from the cache) and
    `n_lost` failed of `n_total`; spent_usd, None while nothing was; errors: what was wrong with those that failed since
    it began, each sentence (untrusted text) with how many. broken_off: the run was killed in it, and these are of then.
    """

    name: str
    state: Literal["done", "stale", "missing", "running"]
    why: str = ""
    n_records: int | None = None
    n_failed: int | None = None
    notices: tuple[str, ...] = ()
    usage: tuple[StageUsage, ...] = ()
    what: str = ""
    n_done: int = 0
    n_cached: int = 0
    n_lost: int = 0
    n_total: int = 0
    left_s: float | None = None
    spent_usd: float | None = None
    errors: tuple[tuple[str, int], ...] = ()
    broken_off: bool = False


StatesOf = Callable[[Workspace], tuple[StageState, ...]]
"""The stages of a run, in their order."""
