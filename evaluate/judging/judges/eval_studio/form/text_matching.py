"""Text matching: whether the answer and the retrieved context fulfil a condition of the query's own.

`metadata.conditions` of the query is a condition for both, or a table with one for the `answer`, the `context` or each:
quoted literals (case sensitive) and `regexp{…}`, joined by AND, OR, NOT and parentheses (`condition.py`). The context
is all retrieved passages, an empty line between two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ragassay.errors import InputError
from ragassay.records import Assessment, Query
from ragassay.text import plain

from ....engine.cases import AnswerCase
from ....engine.evaluator import Criterion, Evaluator
from ....engine.parts import records
from .condition import Condition, ConditionError, condition_of
from .context import context_of
from .safe_patterns import library

_OF = {"text_matching": "answer", "text_matching_context": "context"}
_REMEDY = 'write it as "\\"a text\\" AND NOT regexp{a pattern}", or as a table of answer and context'


class TextMatching(Evaluator):
    """Holds answer and context against the query's condition."""

    name = "text_matching"
    family = "eval-studio-form"
    about = "whether answer and context hold the texts and patterns that the query's condition asks for; asks no model"
    needs = ("conditions",)
    calls = 0.0
    reads = ("conditions", "answer", "context")
    may_lack = ("context",)
    asks = "nothing"
    source = "H2O Eval Studio, text matching"
    tags = ("valid and reliable", "outcomes analysis")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Of the answer and of the context, 1 where the condition holds, else 0."""
        return tuple(Criterion(name, threshold=0.5) for name in _OF)

    @property
    def judge(self) -> str:
        """The condition: nobody judges."""
        return "conditions"

    def check_at_hand(self) -> None:
        """Raises MissingExtra."""
        library()

    def check_query(self, query: Query) -> None:
        """Raises InputError where a condition that the query brings along cannot be read, and MissingExtra."""
        _conditions(query)

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """A record of each; an error where there is no condition for it, or no context."""
        texts = {"answer": case.text, "context": context_of(case)}
        values: dict[str, float | None] = dict.fromkeys(_OF)
        none = dict.fromkeys(_OF, "the query has no condition for it")
        for name, part in _OF.items():
            condition = _conditions(case.query).get(part)
            if condition is not None and (text := texts[part]) is not None:
                values[name] = float(condition.holds(text))
            elif condition is not None:
                none[name] = "the agent retrieved nothing"
        return records(self, case, values, none)


def _conditions(query: Query) -> Mapping[str, Condition]:
    """By what it is a condition for. Raises InputError, naming the query, where one cannot be read."""
    given: Any = query.metadata["conditions"]
    table = {"answer": given, "context": given} if isinstance(given, str) else given
    known = isinstance(table, dict) and table and not table.keys() - {"answer", "context"}
    if not known or not all(isinstance(one, str) for one in table.values()):
        raise InputError(f"query '{plain(query.id)}': metadata.conditions is not a condition", remedy=_REMEDY)
    try:
        return {part: _read(text) for part, text in table.items()}
    except ConditionError as error:
        problem = f"query '{plain(query.id)}': metadata.conditions: {plain(str(error))}"
        raise InputError(problem, remedy=_REMEDY) from None


@lru_cache(maxsize=1024)
def _read(text: str) -> Condition:
    return condition_of(text)
