"""Language mismatch: whether the answer is in another language than the question; 1 is a mismatch.

H2O Eval Studio asks a judge (`by = "judge"`). By default nobody is asked: with the probabilities p of py3langid over
languages l for the question q and the answer a, texts of one language as likely as not, and each language one asked in
of N = 20,

    P(same) = N s / (N s + 1),   s = sum over l of p(l|q) p(l|a),

by Bayes' rule, where texts in different languages are independent; 0 where the scripts differ and the likeliest
languages too, however sure these are. The label is 0 from P(same) >= `confidence`, 1 up to
1 - `confidence`, and in between, as for a text that is too short, mixed or all code, there is no value. A question that
asks for a translation is one for the judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from ragassay.errors import MissingExtra
from ragassay.records import Assessment

from ....engine.cases import AnswerCase
from ....engine.evaluator import NO_VALUE, Asks, Criterion, LabelJudge, Options, Steps
from .languages import Unclear, Written, written

LANGUAGES = 20
"""N: how many languages are asked in, about."""


class LanguageOptions(Options):
    """`[evaluate.settings.language_mismatch]`.

    by: py3langid's identification, or the judge. confidence: the probability from which a label is given.
    least_letters: of a text whose language is told; a Chinese, Japanese or Korean character counts as three.
    """

    by: Literal["identification", "judge"] = "identification"
    confidence: float = Field(0.9, gt=0.5, lt=1)
    least_letters: int = Field(12, ge=1)


class LanguageMismatch(LabelJudge):
    """Compares the languages, or asks the judge with `by = "judge"`."""

    name = "language_mismatch"
    family = "eval-studio-question"
    about = "whether the answer is in another language than the question; 1 is a mismatch; a judge only if wished"
    labels = ("no", "yes")
    calls = 0.0
    reads = ("question", "answer")
    asks = "nothing"
    source = "https://docs.h2o.ai/eval-studio-docs/evaluators"
    tags = ("valid and reliable", "ongoing monitoring")
    options_type = LanguageOptions
    options: LanguageOptions
    default_prompt: ClassVar = Path(__file__).with_name("prompts") / "language_mismatch.md"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """0 or 1."""
        return (Criterion(self.name, lower_is_better=True, threshold=0.5),)

    @property
    def judge(self) -> str:
        """Who says it."""
        return self.setup.model if self.options.by == "judge" else "py3langid"

    @property
    def asking(self) -> Asks:
        """The judge, where it is to say it."""
        return "judge" if self.options.by == "judge" else "nothing"

    @property
    def n_calls(self) -> float:
        """One of the judge, or none."""
        return 1.0 if self.options.by == "judge" else 0.0

    def check_at_hand(self) -> None:
        """Raises MissingExtra without py3langid."""
        if self.options.by == "identification" and find_spec("py3langid") is None:
            raise MissingExtra("language_mismatch needs py3langid, which", "evaluators")

    def steps(self, case: AnswerCase) -> Steps | Sequence[Assessment]:  # type: ignore[override]
        """One request of the judge, or none."""
        if not any(map(str.isalpha, case.text)):
            return [self.fail(case, f"{NO_VALUE}the answer holds no words")]
        return super().steps(case) if self.options.by == "judge" else [self._identified(case)]

    def _identified(self, case: AnswerCase) -> Assessment:
        found: dict[str, Written] = {}
        for what, text in (("question", case.query.text), ("answer", case.text)):
            try:
                found[what] = written(text, self.options.least_letters)
            except Unclear as error:
                return self.fail(case, f"{NO_VALUE}the {what} is {error}")
        same = _same(found["question"], found["answer"])
        told = [_told(what, given) for what, given in found.items()]
        reason = "; ".join(f"{one['text']} in {one['language']} ({one['probability']:.2f})" for one in told)
        if 1 - self.options.confidence < same < self.options.confidence:
            return self.fail(case, f"{NO_VALUE}the languages cannot be told apart surely: {reason}", details=told)
        return self.assess(case, float(same < 0.5), reason=reason, details=told)


def probability_of_same(question: Mapping[str, float], answer: Mapping[str, float]) -> float:
    """P(same), 0 to 1, of two distributions over languages, by the equation above."""
    odds = LANGUAGES * sum(share * answer.get(language, 0.0) for language, share in question.items())
    return odds / (odds + 1)


def _same(question: Written, answer: Written) -> float:
    if question.script != answer.script and question.likeliest != answer.likeliest:
        return 0.0
    return probability_of_same(question.languages, answer.languages)


def _told(what: str, given: Written) -> dict[str, str | float]:
    language = given.likeliest
    return {"text": what, "language": language, "probability": round(given.languages[language], 4)}
