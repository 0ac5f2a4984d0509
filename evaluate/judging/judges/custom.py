"""A judge of the user's own that is one prompt file and a few lines of TOML (`[[evaluate.custom]]`)."""

from __future__ import annotations

from dataclasses import replace

from ragassay.experiment.settings import CustomJudgeSettings

from ..engine.evaluator import Criterion, LabelJudge, Options
from ..engine.judge import Setup


class _OwnPrompt(LabelJudge):
    """Of two labels the higher one passes; longer scales have no threshold."""

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """One, from the lowest label to the highest."""
        (scale,) = super().criteria
        return (replace(scale, threshold=(scale.lowest + scale.highest) / 2) if len(self.labels) == 2 else scale,)


def custom_judge(settings: CustomJudgeSettings, setup: Setup, options: Options) -> LabelJudge:
    """A LabelJudge with the name, labels and prompt of the table."""
    members = {
        "name": settings.name,
        "about": f"your prompt {settings.prompt}",
        "unit": settings.of,
        "needs": settings.needs,
        "labels": tuple(str(label) for label in settings.labels),
        "default_prompt": setup.folder / settings.prompt,
    }
    kind: type[LabelJudge] = type("CustomJudge", (_OwnPrompt,), members)
    return kind(setup, options)
