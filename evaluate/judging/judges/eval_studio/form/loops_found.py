"""Loops found: whether the answer says a stretch again and again right behind itself; 1 is a loop.

Ours, beside `looping`: its three figures are shares of the whole answer, which a loop at the end of a long answer moves
little, and how far zlib compresses depends on the script. A loop is a stretch of ten characters and more that is said
four times in a row, or any that is said three times and fills LEAST characters; one without a letter or digit, as the
rules of tables are, LONG_RULE. Spaces, and the numbers of a list, make no difference.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records import Assessment

from .....texts.loops import Loop, longest_loop
from ....engine.cases import AnswerCase
from ....engine.evaluator import NO_VALUE, Criterion, Evaluator
from .looping import SHORTEST

LEAST, LONG_RULE = 100, 200
_SHOWN = 200


class LoopsFound(Evaluator):
    """Looks for a stretch that is said in a row."""

    name = "loops_found"
    family = "eval-studio-form"
    about = "whether a stretch of the answer is said again and again in a row; 1 is a loop; asks no model"
    calls = 0.0
    reads = ("answer",)
    asks = "nothing"
    source = "ours, beside H2O Eval Studio's looping detection"
    tags = ("valid and reliable", "ongoing monitoring")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """1 where there is a loop."""
        return (Criterion(self.name, lower_is_better=True, threshold=0.5),)

    @property
    def judge(self) -> str:
        """The method: nobody judges."""
        return "loops_found"

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """`details` show the stretch and how often it is said."""
        if not case.text.strip():
            return [self.fail(case, f"{NO_VALUE}the answer is empty")]
        found = longest_loop(case.text)
        if not is_loop(found):
            return [self.assess(case, 0.0, reason="nothing found")]
        details = [{"repeated": found.text[:_SHOWN], "length": len(found.text), "times": found.times}]
        reason = f"{len(found.text)} characters, {found.times} times in a row"
        return [self.assess(case, 1.0, reason=reason, details=details)]


def is_loop(found: Loop) -> bool:
    """Whether it is long enough, and said often enough, to be one."""
    if not any(map(str.isalnum, found.text)):
        return found.length >= LONG_RULE
    return found.length >= LEAST or (found.times >= 4 and len(found.text) >= SHORTEST)
