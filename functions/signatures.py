"""The signatures of the judges' functions, and `ragassay/judges.pyi`, which is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from inspect import Parameter, Signature
from textwrap import fill
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from ragassay.evaluate.judging.engine.evaluator import Evaluator, Options
from ragassay.evaluate.judging.engine.judge import Setup

from .asking import Asking
from .rows import COLUMNS, columns_needed

Given = Literal["one", "many", "rows"]
"""A row as keywords, columns as keywords, or `rows`."""

_GIVEN: tuple[Given, ...] = get_args(Given)
_Typed = tuple[str, Any]
"""An annotation and a default."""

_ONE = {
    "query": "str",
    "answer": "str",
    "contexts": "Contexts",
    "expected_response": "str",
    "expected_docs": "Strings",
    "conditions": "Conditions",
}
_COMMON: dict[str, _Typed] = {
    "model": ("str | None", None),
    "base_url": ("str | None", None),
    "mode": ("Mode | None", None),
    "work": ("str | Path", Asking.work),
    "max_cost": ("float | None", None),
    "config": ("str | Path | None", None),
}
_HEAD = '''"""Every judge as a function. Made by `python -m benchmarks.tables.judge_stubs`, and not by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, Unpack, overload

from ragassay.functions.judges import JudgeFunction
from ragassay.records import Assessment

class Array(Protocol):
    """A column of a data frame, or an array."""

    def tolist(self) -> Any: ...

class Frame(Protocol):
    """A data frame."""

    def to_dict(self, orient: Literal["records"], /) -> Any: ...

Strings: TypeAlias = list[str] | tuple[str, ...] | Array
Contexts: TypeAlias = list[str] | tuple[str, ...] | list[dict[str, str]] | Array
Conditions: TypeAlias = str | Mapping[str, str]
Column: TypeAlias = list[Any] | tuple[Any, ...] | Array
Rows: TypeAlias = Sequence[Mapping[str, Any]] | Frame
Mode: TypeAlias = Literal["auto", "label", "probability"]

def named(name: str) -> JudgeFunction: ...

class Asking(TypedDict, total=False):
    """Whom to ask and how, and what every judge can be told."""

%s
'''


def signature(kind: type[Evaluator]) -> Signature:
    """With everything that the function takes; what it reads has no default, though `rows` may stand for it."""
    rows = Parameter("rows", Parameter.KEYWORD_ONLY, default=None, annotation="Rows | None")
    return Signature([*_columns(kind, "one"), rows, *_settings(kind)], return_annotation=_returned(kind, "one"))


def stubs(kinds: Iterable[type[Evaluator]]) -> str:
    """The text of `ragassay/judges.pyi`: of each judge a row, columns, and rows."""
    common = {**_COMMON, **_options(Options)}
    head = _HEAD % _fields({name: annotation for name, (annotation, _) in common.items()})
    return "\n".join([head, *(line for kind in kinds for line in _stub(kind, common))])


def _stub(kind: type[Evaluator], common: Mapping[str, _Typed]) -> Iterator[str]:
    own = {name: annotation for name, (annotation, _) in _options(kind.options_type).items() if name not in common}
    told = f"_{kind.name}" if own else "Asking"
    if own:
        yield f"class {told}(Asking, total=False):\n{_fields(own)}\n"
    for given in _GIVEN:
        shown = [_text(one).replace(" ", "\0") for one in _columns(kind, given)]
        text = fill(", ".join([*shown, f"**asking:\0Unpack[{told}],"]), 114, break_long_words=False)
        doc = f'\n    """{about(kind)}"""\n' if given == "one" else " ..."
        text = text.replace("\0", " ").replace("\n", "\n    ")
        yield f"@overload\ndef {kind.name}(\n    *, {text}\n) -> {_returned(kind, given)}:{doc}"


def _fields(types: Mapping[str, str]) -> str:
    return "\n".join(f"    {name}: {annotation}" for name, annotation in types.items())


def _columns(kind: type[Evaluator], given: Given) -> list[Parameter]:
    if given == "rows":
        return [Parameter("rows", Parameter.KEYWORD_ONLY, annotation="Rows")]
    needed = columns_needed(kind)
    made = []
    for name in sorted(COLUMNS, key=lambda name: name not in needed):
        annotation = _ONE[name] if given == "one" else "Column"
        if name in needed:
            made.append(Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation))
        else:
            made.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=f"{annotation} | None"))
    return made


def _settings(kind: type[Evaluator]) -> list[Parameter]:
    """The keywords of Asking, and the judge's options, which go before where they have the same name."""
    every = {**_COMMON, **_options(kind.options_type)}
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in every.items()
    ]


def _options(kind: type[Options]) -> dict[str, _Typed]:
    """Name to annotation and default."""
    return {
        name: (_annotation(field.annotation), field.get_default(call_default_factory=True))
        for name, field in kind.model_fields.items()
    }


def _returned(kind: type[Evaluator], given: Given) -> str:
    row = "Assessment"
    if kind.unit == "passage":
        row = "list[Assessment]"
    elif len(kind(Setup("openai:none")).criteria) > 1:
        row = "dict[str, Assessment]"
    return row if given == "one" else f"list[{row}]"


def _annotation(given: Any) -> str:
    """As one would write it; a tuple of any length is a Sequence, of which pydantic makes one."""
    origin, inner = get_origin(given), get_args(given)
    if origin is Annotated:
        return _annotation(inner[0])
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, inner))}]"
    if origin in (Union, UnionType):
        return " | ".join(map(_annotation, inner))
    if origin is tuple and inner[-1] is Ellipsis:
        return f"Sequence[{_annotation(inner[0])}]"
    if origin is not None:
        return f"{'Mapping' if origin is dict else origin.__name__}[{', '.join(map(_annotation, inner))}]"
    return "None" if given is NoneType else str(given.__name__)


def _text(parameter: Parameter) -> str:
    if parameter.default is Parameter.empty:
        return f"{parameter.name}: {parameter.annotation}"
    return f"{parameter.name}: {parameter.annotation} = {parameter.default!r}"


def about(kind: type[Evaluator]) -> str:
    """The judge in a sentence."""
    return f"{kind.about[:1].upper()}{kind.about[1:]}." if kind.about else f"{kind.name}, of {kind.source or 'ours'}."
