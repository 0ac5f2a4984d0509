"""What the prompts of a stage have in common, marked for the provider's prompt cache, and an order that uses it."""

from __future__ import annotations

from collections.abc import Sequence

from ..models.endpoint import provider_of
from ..models.prompt_cache import beginning_of, in_turn, shared_beginnings
from .job import Job


class Beginnings:
    """For each job, how many characters of its first user message others begin with too."""

    def __init__(self) -> None:
        self._shared: dict[str, int] = {}

    def find(self, jobs: Sequence[Job]) -> None:
        """Find what prompts to a model that caches what is marked have in common."""
        marked = [job for job in jobs if provider_of(job.model) == "anthropic"]
        lengths = shared_beginnings([job.request for job in marked])
        self._shared.update((job.key, length) for job, length in zip(marked, lengths, strict=True) if length)

    def shared(self, job: Job) -> int:
        """As `shared` in prompt_cache; 0 where the job shares nothing."""
        return self._shared.get(job.key, 0)

    def in_turn(self, jobs: Sequence[Job], at_once: int) -> list[Job]:
        """The jobs in the order in which they are made, `at_once` at a time."""
        return [jobs[at] for at in in_turn([beginning_of(job.request, self.shared(job)) for job in jobs], at_once)]
