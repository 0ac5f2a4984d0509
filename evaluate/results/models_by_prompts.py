"""Means by the model that answered and the prompt it answered to."""

from __future__ import annotations

from ragassay.records import Figure, Record


class ModelByPrompt(Record):
    """The agents whose answers one model wrote to one prompt. means: measure to the mean over all their answers.

    prompt: as the experiment or the answers name it.
    """

    model: str
    prompt: str
    agents: tuple[str, ...]
    means: dict[str, Figure]
