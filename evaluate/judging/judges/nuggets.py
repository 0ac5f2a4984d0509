"""AutoNuggetizer: what an answer to the query should hold, made from the passages, and how much of it each answer has.

Pradeep et al. 2024 (arXiv:2411.09607), as in the TREC 2024 RAG track, with Open RAG Eval's numbers:

1. The passages of the query's pool with an UMBRELA grade of 1 or more, best grade first, in at most 5 batches.
2. With each batch the model brings a list of at most 30 nuggets, facts of 1 to 12 words, up to date.
3. Each nugget is vital or okay, asked in batches of 10. The first 20 are kept, the vital ones before the others.
4. For each answer, each nugget has support, partial support or none, asked in batches of 10.
5. The scores are those of `nugget_scores`.

All answers to a query are scored by the same nuggets. Beyond the 30, and with more than 12 words, nuggets are left out,
which the record's reason says. Without nuggets there is no value, nor for the vital scores without vital ones.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import ClassVar, Literal, NamedTuple, cast

from pydantic import Field

from ragassay.models.requests import Reply, Request
from ragassay.records import Assessment, Passage

from ..engine.cases import AnswerCase, PassageCase, QueryCase
from ..engine.evaluator import Criterion, Evaluator, Options, Steps, further_prompt, own_prompt, records, together
from ..engine.question import JudgeFailed, Strict, read_value
from ..judges import PROMPTS
from .claims import ItemQuestion
from .relevance import Umbrela

Importance = Literal["vital", "okay"]
Assignment = Literal["support", "partial_support", "not_support"]

SUPPORT: Mapping[str, float] = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
SCORES = ("all", "vital", "weighted", "strict_all", "strict_vital", "strict_weighted")


class Assigned(NamedTuple):
    """A nugget's importance, None where it has none (it counts in "all" alone), and what the answer has of it."""

    importance: Importance | None
    assignment: Assignment


def nugget_scores(nuggets: Sequence[Assigned]) -> dict[str, float | None]:
    """The SCORES, each from 0 to 1, or None where there is no nugget to score it by.

    With s = 1 for a nugget that the answer supports, 0.5 for partial support and 0 for none:
    - all: the mean of s over all nuggets; vital: over the vital ones;
    - weighted: (sum of vital s + 0.5 sum of okay s) / (n_vital + 0.5 n_okay);
    - strict_all, strict_vital, strict_weighted: the same with s = 1 for full support alone.
    A mean over nothing is None, where castorini/nuggetizer and Open RAG Eval write 0; nor do we count one okay nugget
    where there is none, as Open RAG Eval's weighted score does.
    """
    return _means(nuggets, SUPPORT) | {
        f"strict_{name}": value for name, value in _means(nuggets, {**SUPPORT, "partial_support": 0.0}).items()
    }


def _means(nuggets: Sequence[Assigned], support: Mapping[str, float]) -> dict[str, float | None]:
    every = [support[nugget.assignment] for nugget in nuggets]
    vital = [support[nugget.assignment] for nugget in nuggets if nugget.importance == "vital"]
    okay = [support[nugget.assignment] for nugget in nuggets if nugget.importance == "okay"]
    return {
        "all": _share(sum(every), len(every)),
        "vital": _share(sum(vital), len(vital)),
        "weighted": _share(sum(vital) + 0.5 * sum(okay), len(vital) + 0.5 * len(okay)),
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


ENOUGH = 1
"""The lowest UMBRELA grade of a passage that nuggets are made from."""

ROUNDS, PASSAGES, MOST, KEPT, WORDS = 5, 10, 30, 20, 12
"""At most so many rounds, of so many passages (more where the rounds would not do), nuggets, nuggets kept, words."""


class NuggetList(Strict):
    """The list brought up to date, the most important first."""

    nuggets: list[str]


class NuggetOptions(Options):
    """creation_prompt, importance_prompt: files of the user's own; `prompt` is the one that assigns nuggets.

    iterations: all passages are shown each time, so often (5 in Open RAG Eval), until there are 30 nuggets; None: each
    passage once, in batches, as in the paper.
    """

    creation_prompt: str | None = None
    importance_prompt: str | None = None
    iterations: int | None = Field(None, ge=1, le=20)


class Nugget(NamedTuple):
    """A nugget and its importance."""

    text: str
    importance: Importance


@dataclass(frozen=True)
class Made:
    """The nuggets of a query, the vital ones first, how many were left out for their length, or why there are none."""

    nuggets: tuple[Nugget, ...] = ()
    too_long: int = 0
    why_none: str = ""


class Nuggets(Evaluator):
    """Makes the nuggets of a query once, and assigns them to each of its answers."""

    name = "nuggets"
    place = 302
    calls = 5.0
    family = "open-rag-eval"
    about = "how many of the facts that a good answer should hold the answer has"
    reads = ("question", "context", "answer")
    source = "Pradeep et al. 2024, arXiv:2411.09607; 2025, arXiv:2504.15068"
    tags = ("valid and reliable", "explainable and interpretable", "outcomes analysis")
    unit = "query"
    options: NuggetOptions
    options_type = NuggetOptions
    default_prompt: ClassVar = PROMPTS / "nugget_assignment.md"
    criteria = tuple(Criterion(f"nuggets_{name}") for name in SCORES)
    creation = further_prompt("creation_prompt", PROMPTS / "nugget_creation.md")
    """What makes nuggets."""

    def steps(self, case: QueryCase) -> Steps:
        """Grades, nuggets, importance, then the assignments of all answers at once."""
        if not case.answers:
            return []
        made = yield from self._make(case)
        question = self.assignment
        texts = [nugget.text for nugget in made.nuggets]
        asked = [question.requests({"query": case.query, "answer": one.text}, texts) for one in case.answers]
        replies = iter((yield [request for requests in asked for request in requests]) if texts else ())
        rows: list[Assessment] = []
        for answer, requests in zip(case.answers, asked, strict=True):
            rows += self._rows(answer, made, question, [next(replies) for _ in requests])
        return rows

    def _make(self, case: QueryCase) -> Generator[Sequence[Request], Sequence[Reply], Made]:
        grades = yield from together(  # UMBRELA's own requests: equal ones are one
            [self.umbrela.steps(PassageCase(case.query, passage)) for passage in case.passages], "passages"
        )
        graded = [(rows[0].label or 0, passage) for rows, passage in zip(grades, case.passages, strict=True)]
        passages = [passage for grade, passage in sorted(graded, key=lambda pair: -pair[0]) if grade >= ENOUGH]
        if not case.passages and any(answer.answer.passages for answer in case.answers):
            raise JudgeFailed("the retrieved passages are not in the corpus")
        if not passages:
            return Made(why_none=f"no passage of grade {ENOUGH} or more was retrieved")
        found = yield from self._collect(case, passages)
        short = tuple(text for text in found if len(text.split()) <= WORDS)
        if found and not short:
            raise JudgeFailed(f"all {len(found)} nuggets are longer than {WORDS} words")
        if not short:
            return Made(why_none="there is no nugget")
        (verdicts,) = yield from self.importance.verdicts([({"query": case.query}, short)])
        nuggets = [Nugget(text, cast(Importance, one.label)) for text, one in zip(short, verdicts, strict=True)]
        nuggets.sort(key=lambda nugget: nugget.importance != "vital")
        return Made(tuple(nuggets[:KEPT]), len(found) - len(short))

    def _collect(
        self, case: QueryCase, passages: Sequence[Passage]
    ) -> Generator[Sequence[Request], Sequence[Reply], tuple[str, ...]]:
        nuggets: tuple[str, ...] = ()
        often = self.options.iterations
        size = max(PASSAGES, ceil(len(passages) / ROUNDS))
        once = [passages[start : start + size] for start in range(0, len(passages), size)]
        batches = once if often is None else [passages] * often
        for number, batch in enumerate(batches, 1):
            if often is not None and len(nuggets) >= MOST:
                break
            values = {"query": case.query, "nuggets": nuggets, "passages": batch, "max_nuggets": MOST}
            (reply,) = yield [Request(self.creation.render(values), schema=NuggetList)]
            said: dict[str, str] = {}
            for text in read_value(reply, NuggetList, f"round {number} of {len(batches)} made no nuggets").nuggets:
                if text.strip():
                    said.setdefault(" ".join(text.casefold().split()), " ".join(text.split()))
            nuggets = tuple(said.values())[:MOST]
        return nuggets

    @cached_property
    def umbrela(self) -> Umbrela:
        """What grades the passages, as it is without settings of its own."""
        return Umbrela(self.setup)

    @cached_property
    def importance(self) -> ItemQuestion:
        """Vital or okay. Raises InputError where the prompt cannot be read."""
        prompt = own_prompt(self, self.options.importance_prompt, PROMPTS / "nugget_importance.md")
        return ItemQuestion(prompt, ("okay", "vital"), ("no", "yes"), self.setup.mode, "nuggets")

    @cached_property
    def assignment(self) -> ItemQuestion:
        """What an answer has of nuggets. Raises InputError where the prompt cannot be read."""
        labels = ("not_support", "partial_support", "support")
        return ItemQuestion(self.prompt(), labels, ("0", "1", "2"), self.setup.mode, "nuggets", self.options)

    def _rows(self, case: AnswerCase, made: Made, question: ItemQuestion, replies: Sequence[Reply]) -> list[Assessment]:
        try:
            verdicts = question.read(replies, [nugget.text for nugget in made.nuggets])
        except JudgeFailed as error:
            return [self.fail(case, str(error), criterion=criterion.name) for criterion in self.criteria]
        assigned = [
            Assigned(nugget.importance, cast(Assignment, verdict.label))
            for nugget, verdict in zip(made.nuggets, verdicts, strict=True)
        ]
        values = {f"nuggets_{name}": value for name, value in nugget_scores(assigned).items()}
        none = dict.fromkeys(values, made.why_none or "no nugget is vital")
        reason = f"left out for having more than {WORDS} words: {made.too_long}" if made.too_long else None
        details = []
        for nugget, verdict in zip(made.nuggets, verdicts, strict=True):
            said = verdict.detail()
            detail = {"nugget": nugget.text, "importance": nugget.importance, "assignment": said.pop("label")}
            details.append(detail | said)
        return records(self, case, values, none, reason=reason, details=details)
