"""Text matching: whether the answer and the retrieved context fulfil a condition of the query's own.

    condition = both { "OR" both }
    both      = one { "AND" one }
    one       = { "NOT" } ( "(" condition ")" | literal | regexp )
    literal   = "…" or '…', with a backslash before a quotation mark or a backslash of its own
    regexp    = "regexp{" pattern "}", braces in pairs or with a backslash before them

A literal holds where it stands in the text, case sensitive; a pattern where RE2 finds it anywhere. RE2 takes time that
grows with the text and not beyond, whatever the pattern, and knows no back references and no lookaround.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ragassay.errors import InputError, needing
from ragassay.records import Assessment, Query
from ragassay.text import plain

from ....engine.cases import AnswerCase
from ....engine.evaluator import Criterion, Rule, check_passages, records


class PatternError(ValueError):
    """Why RE2 cannot read a pattern."""


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """The pattern, ready to search with. Raises PatternError; MissingExtra where google-re2 is not installed."""
    re2 = library()
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0]
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise PatternError(f"RE2 cannot read the pattern: {reason}") from None


def found(pattern: str, text: str) -> bool:
    """Whether it stands anywhere in the text; what is no valid Unicode there reads as a question mark."""
    return compiled(pattern).search(text.encode("utf-8", "replace").decode()) is not None


def library() -> Any:
    """google-re2. Raises MissingExtra."""
    with needing("patterns need {}, which", "evaluators"):
        import re2
    return re2


LONGEST = 10_000
DEEPEST = 50
"""Of a condition: characters, and parentheses within one another."""

_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", re.DOTALL)
_WORD = re.compile(r"(AND|OR|NOT)\b|[()]")
_SPACE = re.compile(r"\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BEGINS = "regexp{"


class ConditionError(ValueError):
    """What is wrong with a condition, and at which character."""


Condition = Callable[[str], bool]
"""Whether it holds of a text."""


class _Token(NamedTuple):
    kind: str
    value: Any
    place: int


@lru_cache(maxsize=1024)
def condition_of(text: str) -> Condition:
    """The condition. Raises ConditionError, and MissingExtra where it has a pattern and google-re2 is not installed."""
    if len(text) > LONGEST:
        raise ConditionError(f"it has {len(text):,} characters, and at most {LONGEST:,} are taken")
    tokens, at = list[_Token](), _after_space(text, 0)
    while at < len(text):
        token, end = _token(text, at)
        tokens.append(token)
        at = _after_space(text, end)
    reader = _Reader([*tokens, _Token("end", None, len(text))])
    whole = reader.joined("OR", 0)
    reader.take("end")
    return whole


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.at = tokens, 0

    def joined(self, word: str, depth: int) -> Condition:
        """One part, or several with the word between them, as far from the left as is needed; AND binds more closely
        than OR."""
        parts: list[Condition] = []
        while not parts or self.goes_on(word):
            parts.append(self.joined("AND", depth) if word == "OR" else self.one(depth))
        of_parts = all if word == "AND" else any
        return parts[0] if len(parts) == 1 else lambda text: of_parts(part(text) for part in parts)

    def goes_on(self, word: str) -> bool:
        """Step over the word where it comes next."""
        comes = self.tokens[self.at].kind == word
        self.at += comes
        return comes

    def one(self, depth: int) -> Condition:
        """A literal, a pattern or something in parentheses, and whether it is denied."""
        denied = False
        while self.goes_on("NOT"):
            denied = not denied
        if self.goes_on("("):
            if depth == DEEPEST:
                raise ConditionError(f"more than {DEEPEST} parentheses stand within one another")
            inner: Condition = self.joined("OR", depth + 1)
            self.take(")")
        else:
            inner = self.take("text").value
        return (lambda text: not inner(text)) if denied else inner

    def take(self, kind: str) -> _Token:
        """The next token, which must be of this kind."""
        token = self.tokens[self.at]
        if token.kind != kind:
            wanted = {"text": 'a quoted text, regexp{…} or "("', ")": '")"', "end": "AND, OR or the end"}[kind]
            raise ConditionError(f"at character {token.place + 1}: {wanted} is missing")
        self.at += 1
        return token


def _after_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _token(text: str, at: int) -> tuple[_Token, int]:
    if word := _WORD.match(text, at):
        return _Token(word[0], None, at), word.end()
    if quoted := _QUOTED.match(text, at):
        inside = re.sub(r"\\([\"'\\])", r"\1", quoted[0][1:-1])
        if not inside:
            raise ConditionError(f"at character {at + 1}: an empty text stands in every text")
        return _Token("text", lambda whole: inside in whole, at), quoted.end()
    if text.startswith(_BEGINS, at):
        begin, braces = at + len(_BEGINS), 1
        for brace in _BRACE.finditer(text, begin):
            braces += {"{": 1, "}": -1}.get(brace[0], 0)
            if not braces:
                break
        else:
            raise ConditionError(f"at character {at + 1}: {_BEGINS} has no closing brace")
        pattern = text[begin : brace.start()]
        try:
            compiled(pattern)
        except PatternError as error:
            raise ConditionError(f"at character {at + 1}: {error}") from None
        return _Token("text", partial(found, pattern), at), brace.end()
    raise ConditionError(f"at character {at + 1}: neither AND, OR, NOT, a parenthesis, a quoted text nor regexp{{…}}")


_OF = {"text_matching": "answer", "text_matching_context": "context"}
_REMEDY = 'write it as "\\"a text\\" AND NOT regexp{a pattern}", or as a table of answer and context'


class TextMatching(Rule):
    """Holds answer and context against the query's condition.

    `metadata.conditions` of the query is a condition for both, or a table with one for the `answer`, the `context` or
    each. The context is all retrieved passages, an empty line between two.
    """

    name = "text_matching"
    place = 902
    family = "eval-studio-form"
    about = "whether answer and context hold the texts and patterns that the query's condition asks for; asks no model"
    needs = ("conditions",)
    reads = ("conditions", "answer", "context")
    may_lack = ("context",)
    by = "conditions"
    source = "H2O Eval Studio, text matching"
    tags = ("valid and reliable", "outcomes analysis")
    criteria = tuple(Criterion(name, threshold=0.5) for name in _OF)

    def check_at_hand(self) -> None:
        library()

    def check_query(self, query: Query) -> None:
        """Raises InputError where a condition that the query brings along cannot be read, and MissingExtra."""
        _conditions(query)

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """A record of each; an error where there is no condition for it, or no context."""
        check_passages(case)
        context = "\n\n".join(passage.text for passage in case.passages) if case.passages else None
        texts = {"answer": case.text, "context": context}
        values: dict[str, float | None] = dict.fromkeys(_OF)
        none = dict.fromkeys(_OF, "the query has no condition for it")
        for name, part in _OF.items():
            condition = _conditions(case.query).get(part)
            if condition is not None and (text := texts[part]) is not None:
                values[name] = float(condition(text))
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
        return {part: condition_of(text) for part, text in table.items()}
    except ConditionError as error:
        problem = f"query '{plain(query.id)}': metadata.conditions: {plain(str(error))}"
        raise InputError(problem, remedy=_REMEDY) from None
