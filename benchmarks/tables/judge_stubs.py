"""Write ragassay/judges.pyi, the signatures of the judges' functions: `python -m benchmarks.tables.judge_stubs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import Parameter
from pathlib import Path
from textwrap import fill

from ragassay.evaluate.judging.catalog import built_in
from ragassay.evaluate.judging.engine.evaluator import Evaluator, Options
from ragassay.functions.judges import COMMON, Typed, about, columns_of, options_of, returned

FILE = Path(__file__).parents[2] / "ragassay" / "judges.pyi"

HEAD = '''"""Every judge as a function. Made by `python -m benchmarks.tables.judge_stubs`, and not by hand."""

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


def text() -> str:
    """Of all judges of the catalog, in its order: of each a row, columns, and rows."""
    common = {**COMMON, **options_of(Options)}
    head = HEAD % _fields({name: annotation for name, (annotation, _) in common.items()})
    return "\n".join([head, *(line for kind in built_in().values() for line in _stub(kind, common))])


def _stub(kind: type[Evaluator], common: Mapping[str, Typed]) -> Iterator[str]:
    own = {name: annotation for name, (annotation, _) in options_of(kind.options_type).items() if name not in common}
    told, row = f"_{kind.name}" if own else "Asking", returned(kind)
    if own:
        yield f"class {told}(Asking, total=False):\n{_fields(own)}\n"
    rows = [Parameter("rows", Parameter.KEYWORD_ONLY, annotation="Rows")]
    for columns, gives in (
        (columns_of(kind), row),
        (columns_of(kind, many=True), f"list[{row}]"),
        (rows, f"list[{row}]"),
    ):
        shown = [_shown(one).replace(" ", "\0") for one in columns]
        text = fill(", ".join([*shown, f"**asking:\0Unpack[{told}],"]), 114, break_long_words=False)
        doc = f'\n    """{about(kind)}"""\n' if gives is row else " ..."
        text = text.replace("\0", " ").replace("\n", "\n    ")
        yield f"@overload\ndef {kind.name}(\n    *, {text}\n) -> {gives}:{doc}"


def _fields(types: Mapping[str, str]) -> str:
    return "\n".join(f"    {name}: {annotation}" for name, annotation in types.items())


def _shown(parameter: Parameter) -> str:
    default = "" if parameter.default is Parameter.empty else f" = {parameter.default!r}"
    return f"{parameter.name}: {parameter.annotation}{default}"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
