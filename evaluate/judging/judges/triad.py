"""What the judges of the RAG triad share: graded on whole numbers, from 0 to 3 unless a scale is set.

TruLens calls the scale `output_space` and the rest `criteria` and `examples`: truera/trulens,
`src/feedback/trulens/feedback/templates/rag.py`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from ..engine.evaluator import LabelJudge, Options

WIDEST = 10
"""The highest grade that can be set; a finer scale is not told apart by anybody."""


def _rising(scale: tuple[int, int]) -> tuple[int, int]:
    lowest, highest = scale
    if not 0 <= lowest < highest <= WIDEST:
        raise ValueError(f"is [lowest, highest], whole numbers from 0 to {WIDEST}, the lowest first")
    return scale


class TriadOptions(Options):
    """`[evaluate.settings.NAME]` with `scale = [lowest, highest]`, such as [0, 1] or [0, 10].

    On [0, 3] the prompts spell out each grade; on others they say what the ends mean and what lies between. Mode
    "probability" needs labels of one digit, so a highest of at most 9.
    """

    scale: Annotated[tuple[int, int], AfterValidator(_rising)] = Field((0, 3))


class TriadJudge(LabelJudge):
    """One of the three: a label on the scale that is set, and the same on 0 to 1 as `score`."""

    family = "triad"
    options_type: ClassVar[type[TriadOptions]] = TriadOptions
    options: TriadOptions

    @property
    def scale(self) -> tuple[str, ...]:
        """Every whole number from the lowest to the highest."""
        lowest, highest = self.options.scale
        return tuple(str(label) for label in range(lowest, highest + 1))
