"""What all calls of a stage share, made directly or in batches."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ..progress import Progress
from .beginnings import Beginnings
from .budget import Budget
from .job import Job
from .reach import Reach
from .register import Register
from .retrying import Retrier


@dataclass(frozen=True)
class Desk:
    """The stage's requests, its money, and how it is told and stopped; for several threads."""

    register: Register
    beginnings: Beginnings
    budget: Budget
    reach: Reach
    retrier: Retrier
    progress: Progress
    stop: threading.Event

    def finish(self, job: Job) -> None:
        """Count a job that has been asked for."""
        error = job.done.error
        self.progress.advance("done" if error is None else "failed", self.budget.spent_usd, error)
