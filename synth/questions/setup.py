"""What every step of writing from the need is given: settings, experts' questions, prompts."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.prompts import Prompt

from .expert import ExpertQuestion
from .slots import Slot

PROMPTS = Path(__file__).with_name("prompts")
STEPS = ("need", "linked", "blind", "evidence")
"""The prompts: `prompts/STEP.md`, or the user's own of the setting `STEP_prompt`."""


@dataclass(frozen=True)
class Setup:
    """What the steps share. prompts: by step. experts: the questions that examples are drawn from.

    written_roles: those that a model gave, where `roles` is "corpus".
    """

    experiment: Experiment
    experts: Sequence[ExpertQuestion]
    prompts: dict[str, Prompt]
    written_roles: tuple[str, ...] = ()

    @classmethod
    def load(cls, workspace: Workspace, experts: Sequence[ExpertQuestion]) -> Setup:
        """With the prompts read. Raises InputError where one cannot be used."""
        settings = workspace.experiment.questions
        own = {step: getattr(settings, f"{step}_prompt") for step in STEPS}
        prompts = {step: Prompt.load(workspace.prompt_file(own[step], PROMPTS / f"{step}.md")) for step in STEPS}
        return cls(workspace.experiment, experts, prompts)

    @property
    def roles(self) -> list[str]:
        """Who asks: the roles of the settings or those written, or else those that stand before experts' questions."""
        own = self.experiment.questions.roles
        if own == "corpus":
            return list(self.written_roles)
        return list(dict.fromkeys(own or (e.role for e in self.experts if e.role)))

    def values(self, step: str, model: str, place: str, slots: Iterable[Slot]) -> dict[str, Any]:
        """What every prompt of a writing step shows; the examples are drawn anew for each step, model and place."""
        settings, slots = self.experiment.questions, list(slots)
        rng = random.Random(f"{settings.seed}:{step}:{model}:{place}")
        return {
            "language": self.experiment.corpus.language,
            "examples": rng.sample(list(self.experts), min(settings.few_shot, len(self.experts))),
            "kinds": [kind for kind in settings.kinds if any(slot.kind == kind for slot in slots)],
            "roles": [role for role in self.roles if any(slot.role == role for slot in slots)],
        }
