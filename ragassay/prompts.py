"""Prompts: Markdown files with Jinja2 places, in two parts divided by a line `## User`.

Documents, questions and replies are put between fences that they cannot close, and are never read as templates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, Undefined, meta
from jinja2.sandbox import SandboxedEnvironment

from .digests import digest_bytes
from .errors import InputError
from .files import read_text


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
    if isinstance(text, Undefined):
        str(text)  # a StrictUndefined raises, naming what the prompt asks for
    broken = _TAG.sub("<\u200a", text)
    named = "".join(f' {name}="{escape(value)}"' for name, value in (attributes or {}).items())
    return f"<{tag}{named}>\n{broken.strip()}\n</{tag}>"


_OF_A_TEMPLATE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
"""What the expressions of a template may raise, beside Jinja2's own errors."""

_environment = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)
_environment.globals["fence"] = fence


@lru_cache(maxsize=256)
def _compiled(template: str) -> Template:
    """Compiling takes longer than filling, and each prompt is filled thousands of times."""
    return _environment.from_string(template)


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
        text = read_text(path)
        parts = re.split(r"^## User[ \t]*\r?\n", text, flags=re.MULTILINE)
        if len(parts) != 2:
            raise InputError("a prompt has one line '## User' between its two parts", file=path)
        for part in parts:
            try:
                _environment.parse(part)
            except TemplateSyntaxError as error:
                line = error.lineno + text.count("\n", 0, text.index(part))
                raise InputError(f"is not a Jinja2 template ({error.message})", file=path, line=line) from None
        return cls(path, parts[0].strip(), parts[1].strip(), digest_bytes(text.encode()))

    @property
    def names(self) -> frozenset[str]:
        """The names of all values that it may show, whatever they are."""
        parts = (_environment.parse(part) for part in (self.system, self.user))
        return frozenset(name for part in parts for name in meta.find_undeclared_variables(part))

    def render(self, values: Mapping[str, Any]) -> tuple[Message, ...]:
        """The messages with `values` in their places. Raises InputError where the prompt names a value not given."""
        try:
            filled = [_compiled(part).render(values).strip() for part in (self.system, self.user)]
        except (TemplateError, *_OF_A_TEMPLATE) as error:
            known = ", ".join(sorted(values))
            problem = f"cannot be filled ({error or type(error).__name__})"
            raise InputError(problem, file=self.path, remedy=f"given here: {known}") from None
        return Message("system", filled[0]), Message("user", filled[1])
