"""An evaluator: one small class with a name, what it judges, its scale, and its steps to assessments; what its records
say, from which label it is good enough, and which parts of NIST AI RMF and SR 11-7 it bears on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import getfile
from math import inf, isfinite, isinf
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from ragassay.errors import InputError
from ragassay.models.requests import Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import NO_ANSWER, Answer, Assessment, Query
from ragassay.text import did_you_mean, plain

from .cases import (
    NOT_JUDGED,
    AnswerCase,
    Case,
    Judge,
    PassageCase,
    QueryCase,
    Setup,
    StepsTo,
    expected_docs,
    expected_response,
)
from .question import Graded, JudgeFailed, LabelQuestion, number_of

Unit = Literal["passage", "answer", "query"]
Need = Literal["expected_response", "expected_docs", "conditions", "expected_files"]
Part = Literal["question", "expected_response", "context", "answer", "conditions"]
Asks = Literal["judge", "model", "nothing"]
Steps = StepsTo[Assessment]

OWN = "own"
"""The family of what is of no known method: classes of users, and judges of ours that are not in the catalog."""

NO_VALUE = "no value: "
"""How the error of a figure begins that is not defined for a case, such as the recall of nothing."""


@dataclass(frozen=True)
class Criterion:
    """What one number of an evaluator is called in the records, and the ends of its scale.

    highest: infinite where there is no end, as of a perplexity; such labels have no score on 0 to 1.
    lower_is_better: whether little is good, as of toxicity. threshold: the label from which it is good enough, by its
    direction; None where its source names none.
    """

    name: str
    lowest: float = 0.0
    highest: float = 1.0
    lower_is_better: bool = False
    threshold: float | None = None


class Options(BaseModel):
    """`[evaluate.settings.NAME]`: what can be set of every evaluator.

    prompt: a file of the user's own, relative to the corpus folder. criteria: what to heed besides, in the user's
    words. examples: few-shot examples, tables of whatever the case has (query, passage, answer) with reason and label.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    prompt: str | None = None
    criteria: str = ""
    examples: tuple[dict[str, str | int], ...] = ()


class Evaluator(Judge[Assessment]):
    """The base of all. A subclass says what it is in class variables and writes `steps`.

    name: as in experiment.toml. family: whose method it is. place: where it stands in lists, in its family, and with
    the first of them the family. about: one sentence. unit: what it judges; `query` for what looks at all answers of a
    query together. needs: ground truth without which a query is passed over.
    calls: about how many requests a passage or an answer takes, for `ragassay plan`; 0 of what asks no model.
    reads: what of a case it looks at; may_lack: what of that a caller in Python may leave out.
    asks: the judge, a model of its own on this machine or a server, or nothing.
    lower_is_better, good_from: of its one number, unless `criteria` are its own; the latter as `Criterion.threshold`.
    made_of: evaluators whose values it combines, which are handed to it as `parts`, with the settings of their names.
    source: where its rules are from. tags: what of NIST AI RMF and SR 11-7 it bears on.
    default_prompt: with the scale and the rules of its source, a file or the text itself; ragassay_prompt: ours, where
    it departs from them.
    """

    name: ClassVar[str]
    family: ClassVar[str] = OWN
    place: ClassVar[float] = inf
    about: ClassVar[str] = ""
    unit: ClassVar[Unit] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ()
    options_type: ClassVar[type[Options]] = Options
    default_prompt: ClassVar[Path | str | None] = None
    ragassay_prompt: ClassVar[Path | None] = None
    calls: ClassVar[float] = 1.0
    reads: ClassVar[tuple[Part, ...]] = ()
    may_lack: ClassVar[tuple[str, ...]] = ()
    asks: ClassVar[Asks] = "judge"
    lower_is_better: ClassVar[bool] = False
    good_from: ClassVar[float | None] = None
    made_of: ClassVar[tuple[type[Evaluator], ...]] = ()
    source: ClassVar[str] = ""
    tags: ClassVar[tuple[str, ...]] = ()

    def __init__(self, setup: Setup, options: Options | None = None) -> None:
        self.setup, self.options = setup, options or self.options_type()

    def __getstate__(self) -> dict[str, Any]:
        """Without what is worked out when first used, which another process works out for itself."""
        kept = vars(self).items()
        return {name: value for name, value in kept if not isinstance(getattr(type(self), name, None), cached_property)}

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """What it gives a number for; by default one, from 0 to 1, of its own name."""
        return (Criterion(self.name, lower_is_better=self.lower_is_better, threshold=self.good_from),)

    @property
    def asking(self) -> Asks:
        """`asks`, unless its options say otherwise."""
        return self.asks

    @property
    def n_calls(self) -> float:
        """`calls`, unless its options or its model make them more or fewer."""
        return self.calls

    @property
    def batch_label(self) -> str:
        """`evaluate-NAME`."""
        return f"evaluate-{self.name}"

    def owed(self, case: Case) -> list[Assessment]:
        """A record for each criterion; of a query those of each of its answers."""
        if isinstance(case, QueryCase):
            return unjudged(self, case, [answer.answer for answer in case.answers])
        return [self.fail(case, NOT_JUDGED, criterion=criterion.name) for criterion in self.criteria]

    def owed_keys(self, case: Case) -> list[tuple[str, ...]]:
        """The same without making the records, where `owed` is the one above."""
        if isinstance(case, QueryCase) or type(self).owed is not Evaluator.owed:
            return super().owed_keys(case)
        return [(case.query.id, case.subject, criterion.name) for criterion in self.criteria]

    def unanswered(self, case: QueryCase, answer: Answer) -> list[Assessment]:
        """The records of an answer that its agent failed to give: errors, unless a judge counts that by definition."""
        error = f"{NO_ANSWER}{answer.error}"
        return [self.fail(case, error, subject=answer.agent, criterion=each.name) for each in self.criteria]

    def check_at_hand(self) -> None:
        """Raises InputError where something that it loads itself is missing, before any model is asked."""

    def check_query(self, query: Query) -> None:
        """Raises InputError where what a query that it judges brings along for it cannot be used, before any model is
        asked."""

    @abstractmethod
    def steps(self, case: Any) -> Steps | Sequence[Assessment]:
        """The assessments of one case. Raises JudgeFailed, or anything, where it cannot be judged."""

    def lacks(self, query: Query) -> tuple[Need, ...]:
        """What of the ground truth it needs the query does not have."""
        if not self.needs:
            return ()
        has: dict[Need, Callable[[Query], object]] = {
            "expected_response": expected_response,
            "expected_docs": expected_docs,
            "conditions": lambda query: query.metadata.get("conditions"),
            "expected_files": lambda query: query.metadata.get("expected_files"),
        }
        return tuple(need for need in self.needs if has[need](query) is None)

    @property
    def built_in_prompt(self) -> Path | str | None:
        """The prompt that it has by itself, by the wording that the setup wants."""
        return (self.ragassay_prompt if self.setup.prompts == "ragassay" else None) or self.default_prompt

    def prompt(self) -> Prompt:
        """The user's prompt, or the built-in one. Raises InputError where it cannot be read."""
        prompt = self.setup.folder / self.options.prompt if self.options.prompt else self.built_in_prompt
        if prompt is None:
            raise ValueError(f"{self.name} has no prompt")
        return Prompt.of(prompt, Path(getfile(type(self)))) if isinstance(prompt, str) else Prompt.load(prompt)

    @property
    def examples(self) -> Sequence[Mapping[str, str | int]]:
        """The few-shot examples in use: the user's."""
        return self.options.examples

    def assess(
        self,
        case: Case,
        label: float,
        *,
        criterion: str | None = None,
        subject: str | None = None,
        reason: str | None = None,
        probability: float | None = None,
        expected: float | None = None,
        details: Sequence[Mapping[str, Any]] = (),
    ) -> Assessment:
        """An assessment of a case, its score on 0 to 1 from the criterion's scale.

        Raises ValueError for a label that is not on the scale, such as NaN.
        """
        name = criterion or self.criteria[0].name
        scale = next(c for c in self.criteria if c.name == name)
        if not scale.lowest <= label <= scale.highest:
            raise ValueError(f"{name} is {label:g}, which is not from {scale.lowest:g} to {scale.highest:g}")
        return Assessment(
            query_id=case.query.id,
            subject=case.subject if subject is None else subject,
            judge=self.judge,
            criterion=name,
            label=label,
            score=None if isinf(scale.highest) else (label - scale.lowest) / (scale.highest - scale.lowest),
            reason=reason,
            probability=probability,
            expected=expected,
            details=tuple(dict(detail) for detail in details),
        )

    def graded(self, case: Case, grade: Graded, **more: Any) -> Assessment:
        """The assessment that a grade gives."""
        return self.assess(case, **grade._asdict(), **more)

    def fail(
        self,
        case: Case,
        error: str,
        *,
        criterion: str | None = None,
        subject: str | None = None,
        details: Sequence[Mapping[str, Any]] = (),
    ) -> Assessment:
        """The record of what could not be judged."""
        return Assessment(
            query_id=case.query.id,
            subject=case.subject if subject is None else subject,
            judge=self.judge,
            criterion=criterion or self.criteria[0].name,
            label=None,
            error=error,
            details=tuple(dict(detail) for detail in details),
        )


class Rule(Evaluator):
    """Asks nothing: a rule decides. by: the library or the method that its records name; "" is its own name."""

    calls = 0.0
    asks: ClassVar[Asks] = "nothing"
    by: ClassVar[str] = ""

    @property
    def judge(self) -> str:
        """The rule: nobody judges."""
        return self.by or self.name


class LabelJudge(Evaluator):
    """Asks for a reason and one label, or in mode "probability" for the label's probability.

    labels: the scale, lowest first: whole numbers, or words, which are recorded by their place from 0.
    """

    labels: ClassVar[tuple[str, ...]] = ("0", "1", "2", "3")

    @property
    def scale(self) -> tuple[str, ...]:
        """The labels in use."""
        return self.labels

    @cached_property
    def asked(self) -> LabelQuestion:
        """What is asked. Raises InputError where the prompt cannot be read."""
        return LabelQuestion(self.prompt(), self.scale, self.setup.mode, self.options.criteria, self.examples)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        lowest, highest = (number_of(end, self.scale) for end in (self.scale[0], self.scale[-1]))
        return (Criterion(self.name, lowest, highest, self.lower_is_better, self.good_from),)

    def values(self, case: Any) -> Mapping[str, Any]:
        """What the prompt is filled with: query, passage or answer and passages, expected_response."""
        return values_of(case)

    def steps(self, case: Any) -> Steps:
        question = self.asked
        (reply,) = yield [question.request(self.values(case))]
        return [self.graded(case, question.read(reply))]


def values_of(case: Case) -> dict[str, Any]:
    """What every prompt may name of a case."""
    values: dict[str, Any] = {"query": case.query, "expected_response": expected_response(case.query) or ""}
    if isinstance(case, PassageCase):
        values["passage"] = case.passage
    if isinstance(case, AnswerCase):
        values |= {"answer": case.text, "passages": case.passages}
    return values


def check_passages(case: AnswerCase) -> None:
    """Raises JudgeFailed where passages that the agent retrieved are not at hand: their support would be missed."""
    retrieved = set(case.answer.passages)
    if missing := len(retrieved - {passage.id for passage in case.passages}):
        raise JudgeFailed(f"{missing} of the {len(retrieved)} retrieved passages are not in the corpus")


def unjudged(evaluator: Evaluator, case: QueryCase, answers: Sequence[Answer]) -> list[Assessment]:
    """The records that the answers to a query owe, by answer and criterion; those of a failed one say what failed."""
    rows: list[Assessment] = []
    for answer in answers:
        if answer.error is not None:
            rows += evaluator.unanswered(case, answer)
        else:
            rows += [
                evaluator.fail(case, NOT_JUDGED, subject=answer.agent, criterion=c.name) for c in evaluator.criteria
            ]
    return rows


def f1(precision: float | None, recall: float | None) -> float | None:
    """2PR / (P + R). 0 where one of them is 0, whatever the other; else None where one is not defined."""
    if precision == 0 or recall == 0:
        return 0.0
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall)


def records(
    evaluator: Evaluator,
    case: Case,
    values: Mapping[str, float | None],
    none: Mapping[str, str],
    *,
    subject: str | None = None,
    reason: str | None = None,
    details: Sequence[Mapping[str, Any]] = (),
    failed: Collection[str] = (),
) -> list[Assessment]:
    """A record for each criterion, in the evaluator's order. The first one carries the reason and the details.

    values: by criterion. none: why a criterion whose value is None has none. failed: criteria that could not be judged,
    of which that is an error and not "no value".
    """
    rows = []
    for place, name in enumerate(criterion.name for criterion in evaluator.criteria):
        value, parts = values[name], () if place else details
        if value is None:
            why = none[name] if name in failed else NO_VALUE + none[name]
            rows.append(evaluator.fail(case, why, criterion=name, subject=subject, details=parts))
        else:
            said = None if place else reason
            rows.append(evaluator.assess(case, value, criterion=name, subject=subject, reason=said, details=parts))
    return rows


def own_prompt(evaluator: Evaluator, own: str | None, default: Path) -> Prompt:
    """The user's prompt, relative to the corpus folder, or ours at `default`. Raises InputError."""
    return Prompt.load(evaluator.setup.folder / own if own else default)


def further_prompt(option: str, default: Path) -> cached_property[Prompt]:
    """An attribute of an evaluator: `own_prompt` of what the option names. Reading it raises InputError."""
    return cached_property(lambda evaluator: own_prompt(evaluator, getattr(evaluator.options, option), default))


def together(
    parts: Sequence[Steps], what: str
) -> Generator[Sequence[Request], Sequence[Reply], list[Sequence[Assessment]]]:
    """Take the steps of several cases of another evaluator at once; their assessments in the same order.

    Raises JudgeFailed, naming how many of them failed ("1 of 5 passages ..."), where one did.
    """
    made: dict[int, Sequence[Assessment]] = {}
    errors: list[str] = []
    given: dict[int, Sequence[Reply] | None] = dict.fromkeys(range(len(parts)))
    while given:
        asked: dict[int, Sequence[Request]] = {}
        for place, replies in given.items():
            try:
                asked[place] = next(parts[place]) if replies is None else parts[place].send(replies)
            except StopIteration as done:
                made[place] = done.value
            except JudgeFailed as error:
                errors.append(str(error))
            except ValueError as error:
                errors.append(f"the judge's reply cannot be used ({error})")
        if not asked:
            break
        answers = iter((yield [request for some in asked.values() for request in some]))
        given = {place: [next(answers) for _ in some] for place, some in asked.items()}
    errors += [row.error for rows in made.values() for row in rows if row.error is not None]
    if errors:
        raise JudgeFailed(f"{len(errors)} of {len(parts)} {what} could not be judged: {errors[0]}")
    return [made[place] for place in range(len(parts))]


NIST = (
    "valid and reliable",
    "safe",
    "secure and resilient",
    "accountable and transparent",
    "explainable and interpretable",
    "privacy enhanced",
    "fair",
)
"""The characteristics of trustworthy AI: NIST AI 100-1 (AI RMF 1.0), section 3."""

SR_11_7 = ("conceptual soundness", "ongoing monitoring", "outcomes analysis")
"""The elements of validation: Federal Reserve SR 11-7, section V."""


def coverage_of(evaluators: Sequence[Evaluator]) -> dict[str, tuple[str, ...]]:
    """Each tag to the evaluators that bear on it, also those of none; empty where there is no evaluator."""
    if not evaluators:
        return {}
    return {tag: tuple(one.name for one in evaluators if tag in one.tags) for tag in (*NIST, *SR_11_7)}


DEFAULT = 0.75
"""Of the way from the worst end of a scale to the best, as H2O Eval Studio has it."""

YES_NO = 0.5
"""The same of yes and no."""

Thresholds = Mapping[str, float]
"""`[evaluate.thresholds]`: a criterion's name, or its evaluator's for all of its criteria, to a label."""


def threshold_of(evaluator: Evaluator, criterion: Criterion, given: Thresholds | None = None) -> float | None:
    """The label from which it is good enough, by its direction, on its scale; None where nothing sets one.

    The user's (of the criterion, else of the evaluator), its own, or the default, which a scale without end lacks.
    """
    for name in (criterion.name, evaluator.name):
        if given is not None and name in given:
            return given[name]
    if criterion.threshold is not None:
        return criterion.threshold
    if isinf(criterion.highest):
        return None
    share = YES_NO if isinstance(evaluator, LabelJudge) and len(evaluator.scale) == 2 else DEFAULT
    if criterion.lower_is_better:
        share = 1 - share
    return criterion.lowest + share * (criterion.highest - criterion.lowest)


def good_enough(label: float, threshold: float, *, lower_is_better: bool) -> bool:
    """Whether a label reaches the threshold, which itself is good enough."""
    return label <= threshold if lower_is_better else label >= threshold


def thresholds_of(evaluators: Sequence[Evaluator], given: Thresholds | None = None) -> dict[str, float]:
    """Criterion to its threshold, without those that have none."""
    found = {
        criterion.name: threshold_of(evaluator, criterion, given)
        for evaluator in evaluators
        for criterion in evaluator.criteria
    }
    return {name: value for name, value in found.items() if value is not None}


def check_thresholds(evaluators: Sequence[Evaluator], given: Thresholds, file: Path) -> None:
    """Raises InputError for a name that no evaluator in use has, and for a label that is not on its scale."""
    scales = {one.name: list(one.criteria) for one in evaluators}
    scales |= {criterion.name: [criterion] for one in evaluators for criterion in one.criteria}
    for name, label in given.items():
        if name not in scales:
            remedy = f"{did_you_mean(name, scales)}there are {', '.join(map(plain, scales)) or 'none'}"
            problem = f"[evaluate.thresholds] names '{plain(name)}', which no judge in evaluate.judges gives"
            raise InputError(problem, file=file, remedy=remedy)
        for scale in scales[name]:
            if not (isfinite(label) and scale.lowest <= label <= scale.highest):
                ends = f"from {scale.lowest:g}" + ("" if isinf(scale.highest) else f" to {scale.highest:g}")
                problem = f"[evaluate.thresholds] {plain(name)} is {label:g}"
                raise InputError(problem, file=file, remedy=f"its labels are {ends}")
