"""Looping: an answer that says the same again and again, by three figures that need no model.

- unique_sentences: distinct sentences / sentences, of those of ten characters and more; 1 is good;
- longest_repeated_substring: the length of the longest text that stands in the answer twice without overlap, times how
  often it stands there, by the length of the answer; 0 is good, and a loop comes near 1;
- compression_ratio: the bytes that zlib makes of the answer at level 9, by the answer's bytes (UTF-8); loops are near
  0. What comes out longer than it went in, as short answers do, is 1.

The source names 0.75 as its general threshold. Good answers are compressed to less than that (those of the demo to as
little as 0.48), so ours of the last two let them pass: no answer of the demo and no text of the ten scripts of the
tests is beyond them, and each is once it is said ten times over.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from ragassay.records import Assessment

from .....texts.repeats import longest_repeat
from .....texts.sentences import sentences
from ....engine.cases import AnswerCase
from ....engine.evaluator import Criterion, Evaluator
from ....engine.parts import records

SHORTEST = 10
"""Characters of the shortest sentence that counts."""

_SHOWN = 200
_NOTHING = {
    "unique_sentences": f"the answer has no sentence of {SHORTEST} characters",
    "longest_repeated_substring": "the answer is empty",
    "compression_ratio": "the answer is empty",
}


class Looping(Evaluator):
    """Measures how much of an answer repeats itself."""

    name = "looping"
    family = "eval-studio-form"
    about = "whether the answer repeats itself: sentences, its longest repetition, how far it compresses; asks no model"
    calls = 0.0
    reads = ("answer",)
    asks = "nothing"
    source = "H2O Eval Studio, looping detection"
    tags = ("valid and reliable", "ongoing monitoring")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Three, from 0 to 1; a little of the second is good, much of the others."""
        return (
            Criterion("unique_sentences", threshold=0.75),
            Criterion("longest_repeated_substring", lower_is_better=True, threshold=0.5),
            Criterion("compression_ratio", threshold=0.2),
        )

    @property
    def judge(self) -> str:
        """The method: nobody judges."""
        return "looping"

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """A record of each; `details` show the repetition and how often it stands in the answer."""
        repeat, times = longest_repeat(case.text)
        values = {
            "unique_sentences": _unique(case.text),
            "longest_repeated_substring": len(repeat) * times / len(case.text) if case.text else None,
            "compression_ratio": _ratio(case.text),
        }
        details: list[Mapping[str, object]] = [{"repeated": repeat[:_SHOWN], "length": len(repeat), "times": times}]
        return records(self, case, values, _NOTHING, details=details if repeat else ())


def _unique(text: str) -> float | None:
    long = [one for one in sentences(text) if len(one) >= SHORTEST]
    return len(set(long)) / len(long) if long else None


def _ratio(text: str) -> float | None:
    data = text.encode("utf-8", "surrogatepass")
    return min(len(zlib.compress(data, 9)) / len(data), 1.0) if data else None
