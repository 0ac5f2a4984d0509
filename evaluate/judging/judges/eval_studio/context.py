"""The answer against what was retrieved for it: its claims, its sentences by embeddings, the steps it lists; whether it
is true, with a search of the user's; and a summary against what it sums up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from ragassay.errors import InputError
from ragassay.experiment.plugins import import_own, importable, said
from ragassay.models.requests import Request
from ragassay.records import Assessment
from ragassay.text import plain

from ...engine.cases import AnswerCase, expected_response
from ...engine.evaluator import (
    NO_VALUE,
    Criterion,
    Evaluator,
    LabelJudge,
    Options,
    Steps,
    check_passages,
    further_prompt,
    records,
)
from ...engine.question import JudgeFailed, Reason, Strict, read_value, text_or
from ..claims import ItemQuestion, Verdict
from ..factual import Claims, FactualCorrectness, FactualOptions
from .by_embedding import (
    H2O_PAGE,
    TAGS,
    THRESHOLD,
    ByEmbedding,
    SentenceOptions,
    YesShare,
    answer_sentences,
    check_words,
    checked_answer,
    checked_context,
    checked_passages,
    passage_sentences,
)

FOLDER = Path(__file__).parent


class GroundednessEmbeddings(ByEmbedding):
    """Compares the sentences A of each answer with those C of all passages that its agent retrieved.

        min over a in A of max over c in C of cosine(a, c)

    H2O Eval Studio's "groundedness (semantic similarity)". Sentences of ten characters and fewer are left out of both.
    Nearness is not entailment: a sentence and its denial lie near each other. There is no value where the answer has no
    such sentence or the agent retrieved nothing with words.
    """

    name = "groundedness_embeddings"
    place = 603
    family = "eval-studio-context"
    about = "how near the least grounded sentence of the answer is to a sentence of the passages (not groundedness)"
    reads = ("context", "answer")
    source = f"{H2O_PAGE} (Groundedness, semantic similarity)"
    options_type = SentenceOptions
    options: SentenceOptions
    criteria = (Criterion(name, -1.0, 1.0, threshold=0.75),)

    def texts(self, case: AnswerCase) -> Sequence[str]:
        """The sentences of the answer and of the passages."""
        return [*answer_sentences(case.text, self.options.shortest), *self._of_passages(case)]

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """No requests. The details name the least grounded sentence, its score and the sentence nearest to it."""
        checked_passages(case)
        said, read = checked_answer(case, self.options.shortest), self._of_passages(case)
        if not read:
            raise JudgeFailed(NO_VALUE + "the passages hold no words")
        near = self.nearest(said, read)
        least = int(np.argmin([score for score, _ in near]))
        score, nearest = near[least]
        return [self.assess(case, score, details=[{"sentence": said[least], "score": score, "nearest": nearest}])]

    def _of_passages(self, case: AnswerCase) -> list[str]:
        return [one for passage in case.passages for one in passage_sentences(passage.text, self.options.shortest)]


class Faithfulness(YesShare):
    """One request for the claims, then one for the verdicts on each ten of them.

        faithfulness = claims that the passages support / claims of the answer

    Ragas' metric of this name (Es et al. 2024, arXiv:2309.15217, section 3), which is H2O Eval Studio's. The claims are
    asked for as factual_correctness does, so that both cost one. An answer that claims nothing, an empty answer and an
    empty context have no value. groundedness (TruLens') grades claims instead, and an admission of not knowing gets the
    highest grade there.
    """

    name = "faithfulness"
    place = 601
    family = "eval-studio-context"
    about = "the share of the answer's claims that the passages support"
    reads = ("question", "context", "answer")
    source = f"{H2O_PAGE} (Faithfulness); arXiv:2309.15217"
    tags = (*TAGS, "valid and reliable", "accountable and transparent", "ongoing monitoring")
    what = "claims"
    calls = 2.0
    options: FactualOptions
    options_type = FactualOptions
    default_prompt: ClassVar = FOLDER / "context/prompts/faithfulness.md"
    claims_prompt = FactualCorrectness.claims_prompt

    def steps(self, case: AnswerCase) -> Steps:
        """The claims, then whether the passages support them."""
        check_words(case.text, "answer")
        passages = checked_context(case)
        asked = self.claims_prompt.render({"query": case.query, "answer": case.text})
        (reply,) = yield [Request(asked, schema=Claims)]
        claims = list(dict.fromkeys(read_value(reply, Claims).claims))
        if not claims:
            raise JudgeFailed(f"{NO_VALUE}the answer makes no claim")
        (verdicts,) = yield from self.question.verdicts([({"query": case.query, "passages": passages}, claims)])
        return self.share(case, claims, verdicts)


ALIGNMENT, COMPLETENESS, EDITS = "step_alignment", "step_completeness", "step_edits"


class ListedSteps(Strict):
    """The steps of a text, in its order; none where it describes no procedure."""

    steps: list[Annotated[str, text_or("a step is empty")]]


class StepOptions(Options):
    """against: where the procedure is described. steps_prompt, procedure_prompt: files of the user's own in place of
    the prompts that list the steps of an answer and of the passages; `prompt` is the one that pairs them."""

    against: Literal["context", "expected_response"] = "context"
    steps_prompt: str | None = None
    procedure_prompt: str | None = None


class StepAlignment(Evaluator):
    """Two requests for the steps, then one for each ten steps of the answer.

    After H2O Eval Studio's evaluator of this name (`procedure_evaluator.py` in h2oai/h2o-sonar, where it is a preview):
    a model lists the steps of both texts, and both lists are aligned. There the steps are paired by embeddings and
    fuzzy matching; here the judge says of each step of the answer which step of the procedure it is, or none. With n
    steps in the answer and m in the procedure:

    - step_alignment: the most steps of the answer that stand in the procedure's order, divided by n. A step that is
      none of the procedure's does not stand in it; one that was cut in two stands in it twice.
    - step_completeness: how many steps of the procedure the answer has, in whatever order, divided by m.
    - step_edits: how many steps must be inserted, deleted or replaced to make the answer's list the procedure's
      (Levenshtein distance; neighbours that are the same step count once). The source's first metric; 0 is best.

    No value where the answer or the context is empty, or no procedure is described; an answer without steps has no
    alignment and the completeness 0. With `against = "expected_response"` the procedure is the expected response's.
    """

    name = "step_alignment_and_completeness"
    place = 602
    family = "eval-studio-context"
    about = "whether the answer's steps are those of the procedure in the passages, in their order, and all of them"
    reads = ("question", "expected_response", "context", "answer")
    source = f"{H2O_PAGE} (Step Alignment and Completeness)"
    tags = TAGS
    calls = 3.0
    options: StepOptions
    options_type = StepOptions
    default_prompt: ClassVar = FOLDER / "context/prompts/step_pairs.md"
    criteria = (
        Criterion(ALIGNMENT, threshold=THRESHOLD),
        Criterion(COMPLETENESS, threshold=THRESHOLD),
        Criterion(EDITS, 0.0, inf, lower_is_better=True),
    )
    steps_prompt = further_prompt("steps_prompt", FOLDER / "context/prompts/steps.md")
    procedure_prompt = further_prompt("procedure_prompt", FOLDER / "context/prompts/procedure.md")
    """What lists the steps of an answer, and those in the passages."""

    def steps(self, case: AnswerCase) -> Steps:
        """The steps of both sides, then which is which; the pairs are labels whatever the mode."""
        check_words(case.text, "answer")
        if self.options.against == "context":
            values = {"query": case.query, "passages": checked_context(case)}
            procedure = Request(self.procedure_prompt.render(values), schema=ListedSteps)
        elif expected := expected_response(case.query):
            procedure = self._listing(case, expected)
        else:
            raise JudgeFailed(f"{NO_VALUE}the query has no expected response")
        replies = yield [self._listing(case, case.text), procedure]
        given, wanted = (
            read_value(reply, ListedSteps, f"the steps of the {side} could not be had").steps
            for side, reply in zip(("answer", "procedure"), replies, strict=True)
        )
        if not wanted:
            raise JudgeFailed(f"{NO_VALUE}no procedure is described")
        verdicts: list[Verdict] = []
        if given:
            labels = tuple(str(number) for number in range(len(wanted) + 1))
            question = ItemQuestion(self.prompt(), labels, labels, "label", "steps", self.options)
            (verdicts,) = yield from question.verdicts([({"query": case.query, "procedure": wanted}, given)])
        pairs = [int(verdict.label) for verdict in verdicts]
        shares = {
            ALIGNMENT: in_order(pairs) / len(pairs) if pairs else None,
            COMPLETENESS: len({pair for pair in pairs if pair}) / len(wanted),
            EDITS: float(edits(pairs, len(wanted))),
        }
        details = [
            {"step": text, "is": pair or None, "reason": verdict.reason}
            for text, pair, verdict in zip(given, pairs, verdicts, strict=True)
        ]
        details += [{"procedure": text, "number": number} for number, text in enumerate(wanted, 1)]
        return records(self, case, shares, {ALIGNMENT: "the answer has no steps"}, details=details)

    def _listing(self, case: AnswerCase, text: str) -> Request:
        return Request(self.steps_prompt.render({"query": case.query, "answer": text}), schema=ListedSteps)


def in_order(pairs: Sequence[int]) -> int:
    """The length of the longest run of non-zero numbers, gaps allowed, that never falls."""
    ends: list[int] = []
    for pair in pairs:
        if pair:
            place = bisect_right(ends, pair)
            ends[place : place + 1] = [pair]
    return len(ends)


def edits(pairs: Sequence[int], n: int) -> int:
    """The Levenshtein distance of the numbers, of which equal neighbours other than 0 are one, to 1, 2, …, n."""
    merged = [number for number, some in groupby(pairs) for number in (some if number == 0 else [number])]
    row = list(range(n + 1))
    for i, number in enumerate(merged, 1):
        above, row = row, [i]
        for j in range(1, n + 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (number != j)))
    return row[n]


Label = Literal["unknown", "false", "true"]

MOST_RESULTS = 5
MOST_CHARACTERS = 2000
"""Of each result; what is longer is cut off."""


class Found(NamedTuple):
    """What was searched for, and the texts that came back."""

    query: str
    results: tuple[str, ...]


class Decision(Strict):
    """The reason, then the verdict."""

    reason: Reason
    label: Label


class Turn(Strict):
    """The reason, then either what to search for or the verdict; the other one is null."""

    reason: Reason
    search: Reason | None
    label: Label | None

    @model_validator(mode="after")
    def _one_of_both(self) -> Turn:
        if (self.search is None) == (self.label is None):
            raise ValueError("give either search or label, and null for the other")
        return self


class FactCheckOptions(Options):
    """search: the user's function, "module:function" in the corpus folder. searches: how many an answer may take."""

    search: str | None = Field(None, pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
    searches: int = Field(3, ge=1, le=20)


class FactCheck(Evaluator):
    """One request a round: each reply is either what to search for or the verdict, due after `searches` searches.

    After H2O Eval Studio's "Fact-check (Agent-based)", which hands the answer to an h2oGPTe agent with internet search.
    The search is a function of the user's, `[evaluate.settings.fact_check] search = "module:function"`, from a query to
    a text or a list of texts; without one the judge decides from the passages alone, and the record's reason says so.
    true is 1: nothing is false; false is 0. Where neither settles it, there is no value; nor is there for an empty
    answer, or where there is neither a search nor a passage. What the search found is untrusted, cut off, and fenced.
    """

    name = "fact_check"
    place = 1201
    family = "eval-studio-free"
    about = "whether the answer says nothing false, by a model that may use a search of yours: true or false"
    reads = ("question", "context", "answer")
    source = f"{H2O_PAGE} (Fact-check, Agent-based)"
    tags = (*TAGS, "valid and reliable", "accountable and transparent", "privacy enhanced")
    calls = 2.0
    options: FactCheckOptions
    options_type = FactCheckOptions
    default_prompt: ClassVar = FOLDER / "free/prompts/fact_check.md"
    criteria = (Criterion(name, threshold=0.75),)

    def check_at_hand(self) -> None:
        """Raises InputError where the search cannot be imported."""
        _ = self.search

    @cached_property
    def search(self) -> Callable[[str], tuple[str, ...]] | None:
        """What the user's function finds, asked each query once; None where none is set. Raises InputError."""
        name, folder = self.options.search, self.setup.folder
        if name is None:
            return None
        settings = folder / "experiment.toml"
        with importable(folder):
            theirs = import_own(name, folder, f"search '{plain(name)}'", settings)
        if not callable(theirs):
            remedy = "name one that takes a query and returns a text or a list of texts"
            raise InputError(f"{plain(name)} is no function", file=settings, remedy=remedy)

        @cache
        def search(query: str) -> tuple[str, ...]:
            try:
                with importable(folder):
                    given: Any = theirs(query)
                texts = [given] if isinstance(given, str) else list(given)
            except (Exception, SystemExit) as error:
                raise JudgeFailed(f"the search failed ({said(error)})") from error
            if not all(isinstance(text, str) for text in texts):
                raise JudgeFailed("the search failed (it returned something other than texts)")
            return tuple(text[:MOST_CHARACTERS] for text in texts[:MOST_RESULTS] if text.strip())

        return search

    def steps(self, case: AnswerCase) -> Steps:
        """Searches, at most `searches`, then the verdict, which is a label whatever the mode."""
        check_words(case.text, "answer")
        search, found = self.search, list[Found]()
        if search is None:
            checked_context(case)
        check_passages(case)
        while True:
            left = self.options.searches - len(found) if search else 0
            schema = Turn if left else Decision
            values = {"query": case.query, "answer": case.text, "passages": case.passages, "found": tuple(found)}
            more = {"left": left, "criteria": self.options.criteria}
            (reply,) = yield [Request(self.prompt().render(values | more), schema=schema)]
            turn = read_value(reply, schema)
            if search is None or isinstance(turn, Decision) or turn.search is None:
                break
            found.append(Found(turn.search, search(turn.search)))
        details = [{"search": one.query, "results": list(one.results)} for one in found]
        whole = turn.reason if search else f"{turn.reason} (From the passages alone: no search is set.)"
        if turn.label == "unknown":
            return [self.fail(case, f"{NO_VALUE}what is at hand does not settle it: {whole}", details=details)]
        return [self.assess(case, float(turn.label == "true"), reason=whole, details=details)]


class SummaryOptions(Options):
    """document: what is summed up, the retrieved passages ("context") or the question itself ("question")."""

    document: Literal["context", "question"] = "context"


class SummaryJudge(LabelJudge):
    """One request, answered with bad (0) or good (1).

    H2O Eval Studio has "Summarization (Completeness and Faithfulness)", which it computes from embeddings and SummaC,
    and "Summarization (Judge)", which has a model say good or bad. Here the judge says good or bad of the completeness
    and of the faithfulness, and of the whole by that evaluator's rule. The text is the retrieved passages, or with
    `document = "question"` the question, as there. No value where the text or the summary is empty. The prompts are
    ours.
    """

    family = "eval-studio-summaries"
    labels = ("bad", "good")
    reads = ("question", "context", "answer")
    source = f"{H2O_PAGE} (Summarization, Completeness and Faithfulness)"
    tags = TAGS
    options: SummaryOptions
    options_type = SummaryOptions
    good_from = 0.5

    def values(self, case: AnswerCase) -> Mapping[str, Any]:
        """With `documents`, the texts that are summed up. Raises JudgeFailed without words or the passages' texts."""
        check_words(case.text, "summary")
        if self.options.document == "question":
            check_words(case.query.text, "question")
            documents: tuple[str, ...] = (case.query.text,)
        else:
            documents = tuple(f"{passage.title}\n{passage.text}" for passage in checked_context(case))
        return {**super().values(case), "documents": documents}


class SummaryCompleteness(SummaryJudge):
    """Does the summary hold all that matters?"""

    name = "summary_completeness"
    place = 1001
    about = "whether a summary says all that matters in the text it sums up: good or bad"
    default_prompt: ClassVar = FOLDER / "summaries/prompts/summary_completeness.md"


class SummaryFaithfulness(SummaryJudge):
    """Does the summary hold nothing but what the text says?"""

    name = "summary_faithfulness"
    place = 1002
    about = "whether a summary says only what the text it sums up says: good or bad"
    default_prompt: ClassVar = FOLDER / "summaries/prompts/summary_faithfulness.md"


class SummaryQuality(SummaryJudge):
    """Is the summary comprehensive, concise, coherent and understandable by itself?"""

    name = "summary_quality"
    place = 1003
    about = "whether a summary is comprehensive, concise, coherent and understandable by itself: good or bad"
    source = f"{H2O_PAGE} (Summarization, Judge)"
    default_prompt: ClassVar = FOLDER / "summaries/prompts/summary_quality.md"
