"""Prompts: Markdown files with Jinja2 places, in two parts divided by a line `## User`.

Documents, questions and replies are put between fences that they cannot close, and are never read as templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from itertools import accumulate, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .errors import InputError
from .files import digest_bytes, read_text
from .records import Asked, Passage, Turn

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment


class Message(NamedTuple):
    """One turn of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


TAGS = (
    "answer",
    "claim",
    "document",
    "example",
    "expected_answer",
    "need",
    "nugget",
    "passage",
    "query",
    "question",
    "reason",
    "section",
    "sentence",
)
"""What our prompts fence material with."""

_TAG = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)


def fence(tag: str, text: str, attributes: Mapping[str, str] | None = None) -> str:
    """`text` between `<tag>` and `</tag>`; whatever in it would open or close one of our fences is broken up."""
    if tag not in TAGS:
        raise ValueError(f"{tag} is not one of {', '.join(TAGS)}")
    if not isinstance(text, str):
        str(text)  # a StrictUndefined raises, naming what the prompt asks for
    broken = _TAG.sub("<\u200a", text)
    named = "".join(f' {name}="{escape(value)}"' for name, value in (attributes or {}).items())
    before = _history(text.history) if isinstance(text, Asked) and text.history and tag in _QUESTIONS else ""
    return f"{before}<{tag}{named}>\n{broken.strip()}\n</{tag}>"


_QUESTIONS = ("query", "question")
_TURN_TAG = re.compile(rf"<(?=\s*/?\s*(?:turn|history|{'|'.join(TAGS)})\b)", re.IGNORECASE)


def _history(turns: Sequence[Turn]) -> str:
    """What stands before a question that is a turn of a conversation, in every prompt."""
    said = []
    for turn in turns:
        by = f' by="{turn.by}"' if turn.by else ""
        broken = _TURN_TAG.sub("<\u200a", turn.text).strip()
        said.append(f'<turn role="{turn.role}"{by}>\n{broken}\n</turn>')
    told = "What was said before, between the tags of turns, is material to read too; the question goes on from it:"
    return "\n".join([told, "<history>", *said, "</history>", "", ""])


_OF_A_TEMPLATE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
"""What the expressions of a template may raise, beside Jinja2's own errors."""


@cache
def _environment() -> SandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    made = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)
    made.globals["fence"] = fence
    return made


@lru_cache(maxsize=256)
def _compiled(template: str) -> Template:
    """Compiling takes longer than filling, and each prompt is filled thousands of times."""
    return _environment().from_string(template)


@lru_cache(maxsize=256)
def _check(template: str) -> None:
    _environment().parse(template)


@lru_cache(maxsize=256)
def _names(template: str) -> frozenset[str]:
    from jinja2 import meta

    return frozenset(meta.find_undeclared_variables(_environment().parse(template)))


@dataclass(frozen=True)
class Prompt:
    """A prompt as read from its file; `digest` is the SHA-256 of its text."""

    path: Path
    system: str
    user: str
    digest: str

    @classmethod
    def load(cls, path: Path) -> Prompt:
        """Read a prompt. Raises InputError where the file, its `## User` line or its syntax is wrong."""
        return cls.of(read_text(path), path)

    @classmethod
    def of(cls, text: str, path: Path) -> Prompt:
        """The prompt of a text that stands in `path`. Raises InputError as `load`."""
        from jinja2 import TemplateSyntaxError

        parts = re.split(r"^## User[ \t]*\r?\n", text, flags=re.MULTILINE)
        if len(parts) != 2:
            raise InputError("a prompt has one line '## User' between its two parts", file=path)
        for part in parts:
            try:
                _check(part)
            except TemplateSyntaxError as error:
                line = error.lineno + text.count("\n", 0, text.index(part))
                raise InputError(f"is not a Jinja2 template ({error.message})", file=path, line=line) from None
        return cls(path, parts[0].strip(), parts[1].strip(), digest_bytes(text.encode()))

    @property
    def names(self) -> frozenset[str]:
        """The names of all values that it may show, whatever they are."""
        return _names(self.system) | _names(self.user)

    def render(self, values: Mapping[str, Any]) -> tuple[Message, ...]:
        """The messages with `values` in their places. Raises InputError where the prompt names a value not given."""
        from jinja2 import TemplateError

        try:
            filled = [_compiled(part).render(values).strip() for part in (self.system, self.user)]
        except (TemplateError, *_OF_A_TEMPLATE) as error:
            known = ", ".join(sorted(values))
            problem = f"cannot be filled ({error or type(error).__name__})"
            raise InputError(problem, file=self.path, remedy=f"given here: {known}") from None
        return Message("system", filled[0]), Message("user", filled[1])


_PIECE = re.compile(r"[^\W\d_]+|\d+|\s*\n\s*|[^\w\s]|_+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def count_tokens(text: str) -> int:
    """An estimate of how many tokens `text` has, 0 for an empty text; it grows with every word added.

    Tokenizer tables (tiktoken's) are fetched at first use, so it goes by the text alone: a word is one token for every
    started six letters, a number one for every three digits, a mark or a CJK character one. On English prose this lies
    within about a tenth of the o200k count; it is used to size sections and to plan costs, never to bill.
    """
    return sum(map(_tokens_of, _PIECE.findall(text)))


@lru_cache(maxsize=4096)
def _tokens_of(piece: str) -> int:
    if piece.isdigit():
        return -(-len(piece) // 3)
    if _WIDE.search(piece):
        return len(piece)
    return -(-len(piece) // 6) if piece[0].isalpha() else 1


def passage_tokens(passage: Passage) -> int:
    """What a passage takes of a prompt: its title and its text, without the marks around them."""
    return count_tokens(passage.title) + count_tokens(passage.text)


def how_many_fit(tokens: Iterable[int], limit: int) -> int:
    """How many of the first passages, of so many tokens each, have at most `limit` together.

    The passage that crosses the limit is left out and ends the row, be it the first one or a shorter one come after it.
    """
    return sum(1 for _ in takewhile(lambda together: together <= limit, accumulate(tokens)))


_REPLY_TOKENS = {
    "questions": 290,
    "roles": 200,
    "needs": 600,
    "linked": 120,
    "blind": 170,
    "evidence": 650,
    "rewrites": 113,
    "answers": 115,
    "relevance": 55,
    "pointwise": 180,
    "pointwise-answer_correctness": 55,
    "games": 62,
    "paraphrase": 40,
    "synonyms": 60,
}


_REPLY_TOKENS_OF_ITEMS = {
    "relevance-batch": (0, 45),
    "quotes": (20, 90),
    "listwise": (60, 8),
    "rerank": (8, 3),
    "chain": (10, 95),
    "turns": (10, 25),
    "restore": (10, 35),
    "alone": (10, 25),
    "same": (10, 12),
}
"""By label what a reply has in any case, and what of each passage, each golden answer or each agent more."""


def reply_tokens(label: str, items: int = 1) -> int:
    """About how many tokens a reply to a request with this label has, which asks about so many items.

    It is what the first recorded run had, which that of another may not be like (`python -m
    benchmarks.tables.plan_accuracy`); steps of questions from the need are reckoned for ten questions, and those of
    perturbed questions, of quotes and of conversations are guesses.
    """
    label = label.split("-repeat-")[0]
    for name in (label, label.split("-")[0]):
        if name in _REPLY_TOKENS_OF_ITEMS:
            base, each = _REPLY_TOKENS_OF_ITEMS[name]
            return base + each * items
        if name in _REPLY_TOKENS:
            return _REPLY_TOKENS[name]
    return 100
