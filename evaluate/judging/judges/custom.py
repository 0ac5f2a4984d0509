"""A judge of the user's own that is one prompt file and a few lines of TOML (`[[evaluate.custom]]`)."""

from __future__ import annotations

from ragassay.experiment.settings import CustomJudgeSettings

from ..engine.evaluator import LabelJudge, Options
from ..engine.judge import Setup


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
    kind: type[LabelJudge] = type("CustomJudge", (LabelJudge,), members)
    return kind(setup, options)
