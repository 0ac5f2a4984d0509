"""What a judge says by itself: whether an answer is true, with a search of the user's, and a summary good."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, cast

from pydantic import Field, model_validator

from ragassay.errors import InputError
from ragassay.experiment.plugins import import_own, importable, said
from ragassay.models.requests import Request
from ragassay.records import Assessment
from ragassay.text import plain

from ...engine.cases import AnswerCase
from ...engine.evaluator import NO_VALUE, Criterion, Evaluator, LabelJudge, Options, Steps, check_passages
from ...engine.question import JudgeFailed, Reason, Strict, read_value
from ..eval_studio import H2O_PAGE, TAGS
from .by_embedding import check_words, checked_context

Search = Callable[[str], Any]
Verdict = Literal["unknown", "false", "true"]

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
    label: Verdict


class Turn(Strict):
    """The reason, then either what to search for or the verdict; the other one is null."""

    reason: Reason
    search: Reason | None
    label: Verdict | None

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
    default_prompt: ClassVar = Path(__file__).parent / "free/prompts/fact_check.md"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """0 or 1."""
        return (Criterion(self.name, threshold=0.75),)

    def check_at_hand(self) -> None:
        """Raises InputError where the search cannot be imported."""
        _ = self.search

    @cached_property
    def search(self) -> Search | None:
        """The user's function, None where none is set. Raises InputError."""
        name, folder = self.options.search, self.setup.folder
        if name is None:
            return None
        module, _, attribute = name.partition(":")
        settings = folder / "experiment.toml"
        with importable(folder):
            found = getattr(import_own(module, folder, f"search '{plain(name)}'", settings), attribute, None)
        if not callable(found):
            raise InputError(
                f"{plain(name)} is no function",
                file=settings,
                remedy="name one that takes a query and returns a text or a list of texts",
            )
        return cast(Search, found)

    @cached_property
    def _known(self) -> dict[str, tuple[str, ...]]:
        """What was searched for before: the same query is put to the search once a run."""
        return {}

    def steps(self, case: AnswerCase) -> Steps:
        """Searches, at most `searches`, then the verdict, which is a label whatever the mode."""
        check_words(case.text, "answer")
        if self.search is None:
            checked_context(case)
        check_passages(case)
        found: list[Found] = []
        while True:
            left = self.options.searches - len(found) if self.search else 0
            schema = Turn if left else Decision
            values = {"query": case.query, "answer": case.text, "passages": case.passages, "found": tuple(found)}
            more = {"left": left, "criteria": self.options.criteria}
            (reply,) = yield [Request(self.prompt().render(values | more), schema=schema)]
            turn = read_value(reply, schema)
            if isinstance(turn, Decision) or turn.search is None:
                return self._row(case, turn.reason, turn.label, found)
            found.append(Found(turn.search, self._results(turn.search)))

    def _results(self, query: str) -> tuple[str, ...]:
        if query not in self._known:
            try:
                with importable(self.setup.folder):
                    given = self.search(query) if self.search else []
                texts = [given] if isinstance(given, str) else list(given)
            except (Exception, SystemExit) as error:
                raise JudgeFailed(f"the search failed ({said(error)})") from error
            if not all(isinstance(text, str) for text in texts):
                raise JudgeFailed("the search failed (it returned something other than texts)")
            self._known[query] = tuple(text[:MOST_CHARACTERS] for text in texts[:MOST_RESULTS] if text.strip())
        return self._known[query]

    def _row(self, case: AnswerCase, reason: str, label: Verdict | None, found: Sequence[Found]) -> list[Assessment]:
        details = [{"search": one.query, "results": list(one.results)} for one in found]
        whole = reason if self.search else f"{reason} (From the passages alone: no search is set.)"
        if label == "unknown":
            return [self.fail(case, f"{NO_VALUE}what is at hand does not settle it: {whole}", details=details)]
        return [self.assess(case, float(label == "true"), reason=whole, details=details)]


PROMPTS = Path(__file__).parent / "summaries/prompts"


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
    tags = TAGS
    options: SummaryOptions
    options_type = SummaryOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """0 or 1."""
        return (Criterion(self.name, threshold=0.5),)

    def values(self, case: AnswerCase) -> Mapping[str, Any]:
        """With `documents`, the texts that are summed up."""
        return {**super().values(case), "documents": self._documents(case)}

    def steps(self, case: AnswerCase) -> Steps:
        """One request, or no value. Raises JudgeFailed without the passages' texts."""
        check_words(case.text, "summary")
        return (yield from super().steps(case))

    def _documents(self, case: AnswerCase) -> tuple[str, ...]:
        if self.options.document == "question":
            check_words(case.query.text, "question")
            return (case.query.text,)
        return tuple(f"{passage.title}\n{passage.text}" for passage in checked_context(case))


class SummaryCompleteness(SummaryJudge):
    """Does the summary hold all that matters?"""

    name = "summary_completeness"
    place = 1001
    about = "whether a summary says all that matters in the text it sums up: good or bad"
    source = f"{H2O_PAGE} (Summarization, Completeness and Faithfulness)"
    default_prompt: ClassVar = PROMPTS / "summary_completeness.md"


class SummaryFaithfulness(SummaryJudge):
    """Does the summary hold nothing but what the text says?"""

    name = "summary_faithfulness"
    place = 1002
    about = "whether a summary says only what the text it sums up says: good or bad"
    source = f"{H2O_PAGE} (Summarization, Completeness and Faithfulness)"
    default_prompt: ClassVar = PROMPTS / "summary_faithfulness.md"


class SummaryQuality(SummaryJudge):
    """Is the summary comprehensive, concise, coherent and understandable by itself?"""

    name = "summary_quality"
    place = 1003
    about = "whether a summary is comprehensive, concise, coherent and understandable by itself: good or bad"
    source = f"{H2O_PAGE} (Summarization, Judge)"
    default_prompt: ClassVar = PROMPTS / "summary_quality.md"
