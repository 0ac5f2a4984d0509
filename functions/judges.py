"""A judge as a function: keywords, columns or rows in, the records of `judgments.jsonl` out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from ragassay.errors import InputError
from ragassay.evaluate.judging.catalog import GROUP, built_in, type_of
from ragassay.evaluate.judging.engine.cases import Setup
from ragassay.evaluate.judging.engine.evaluator import Evaluator, Options
from ragassay.experiment.plugins import names_of
from ragassay.records import Assessment
from ragassay.text import did_you_mean, plain

from .asking import (
    COLUMNS,
    SUBJECT,
    THEIRS,
    Asking,
    Mode,
    ask,
    case_of,
    check_columns,
    columns_needed,
    evaluators_in,
    missing_of,
    rows_of,
)

Typed = tuple[str, Any]
"""An annotation and a default."""

_ONE = {
    "query": "str",
    "answer": "str",
    "contexts": "Contexts",
    "expected_response": "str",
    "expected_docs": "Strings",
    "conditions": "Conditions",
}
COMMON: dict[str, Typed] = {
    "model": ("str | None", None),
    "base_url": ("str | None", None),
    "mode": ("Mode | None", None),
    "work": ("str | Path", Asking.work),
    "max_cost": ("float | None", None),
    "config": ("str | Path | None", None),
}


def signature(kind: type[Evaluator]) -> Signature:
    """With everything that the function takes; what it reads has no default, though `rows` may stand for it.

    The judge's options go before the keywords of Asking where they have the same name.
    """
    rows = Parameter("rows", Parameter.KEYWORD_ONLY, default=None, annotation="Rows | None")
    settings = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in {**COMMON, **options_of(kind.options_type)}.items()
    ]
    return Signature([*columns_of(kind), rows, *settings], return_annotation=returned(kind))


def columns_of(kind: type[Evaluator], *, many: bool = False) -> list[Parameter]:
    """What a row may say as keywords, or `many` as columns; what the judge reads comes first and has no default."""
    needed = columns_needed(kind)
    made = []
    for name in sorted(COLUMNS, key=lambda name: name not in needed):
        annotation = "Column" if many else _ONE[name]
        if name in needed:
            made.append(Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation))
        else:
            made.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=f"{annotation} | None"))
    return made


def options_of(kind: type[Options]) -> dict[str, Typed]:
    """Name to annotation and default of a judge's options."""
    return {
        name: (_annotation(field.annotation), field.get_default(call_default_factory=True))
        for name, field in kind.model_fields.items()
    }


def returned(kind: type[Evaluator]) -> str:
    """What a row gives, as one would write it."""
    if kind.unit == "passage":
        return "list[Assessment]"
    return "dict[str, Assessment]" if len(kind(Setup("openai:none")).criteria) > 1 else "Assessment"


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


def about(kind: type[Evaluator]) -> str:
    """The judge in a sentence."""
    return f"{kind.about[:1].upper()}{kind.about[1:]}." if kind.about else f"{kind.name}, of {kind.source or 'ours'}."


Judged = Assessment | dict[str, Assessment] | list[Assessment]
"""What a row gives: a record; of a judge with several criteria one by each; of a judge of passages one for each."""


class JudgeFunction:
    """An evaluator of the catalog as a function; ragassay/judges.pyi has the signature of each.

    The records are those of files: `label` on the judge's scale, `score` from 0 to 1, `reason`, and `error` where there
    is no label. What a row lacks is a record with its error, so that records stand in the order of the rows.
    """

    def __init__(self, name: str, kind: type[Evaluator]) -> None:
        self.__name__, self._name, self._kind = kind.name, name, kind
        self.__doc__, self.__signature__ = description(kind), signature(kind)

    def __repr__(self) -> str:
        return f"<judge {self.__name__}>"

    def __call__(
        self,
        *,
        rows: Any = None,
        model: str | None = None,
        base_url: str | None = None,
        mode: Mode | None = None,
        work: str | Path = ".ragassay",
        max_cost: float | None = None,
        config: str | Path | None = None,
        **given: Any,
    ) -> Judged | list[Judged]:
        """Judge one row (texts as keywords), or many: columns as keywords, or `rows`, dicts or a data frame.

        given: COLUMNS, which may be named as Agent Evaluation does (request, response, retrieved_context, …), and the
        options of `[evaluate.settings.NAME]`; one that the judge does not have is an error. The other keywords are
        Asking's.
        Raises InputError for what cannot be used, BudgetSpent at max_cost, and RepliesMissing for a `file:` model whose
        replies are not there yet.
        """
        caller = f"judges.{self.__name__}"
        judged = rows_of({name: given.pop(name) for name in (*COLUMNS, *THEIRS) if name in given}, rows, caller)
        check_columns(judged, self._kind, caller)
        if model is not None and "model" in self._kind.options_type.model_fields:
            given, model = {**given, "model": model}, None
        asking = Asking(model, base_url, mode, work, max_cost, config)
        made = self._judged(judged.rows, asking, given, caller)
        return made[0] if judged.one else made

    def _judged(
        self, rows: Sequence[Mapping[str, Any]], asking: Asking, options: Mapping[str, Any], caller: str
    ) -> list[Judged]:
        workspace = asking.workspace([self._name], {self._kind.name: options})
        (evaluator,) = evaluators = evaluators_in(workspace, caller)
        lacking = {number: said for number, row in enumerate(rows, 1) if (said := missing_of(row, self._kind))}
        cases = {number: case_of(row, number, caller) for number, row in enumerate(rows, 1) if number not in lacking}
        found: dict[str, list[Assessment]] = {}
        records, _ = ask(workspace, evaluators, list(cases.values()), caller)
        for record in records:
            found.setdefault(record.query_id, []).append(record)
        for number, said in lacking.items():
            found[str(number)] = [
                Assessment(
                    query_id=str(number),
                    subject=SUBJECT,
                    judge=evaluator.judge,
                    criterion=criterion.name,
                    label=None,
                    error=said,
                )
                for criterion in evaluator.criteria
            ]
        by_row = [found.get(str(number), []) for number in range(1, len(rows) + 1)]
        if evaluator.unit == "passage":
            return [*by_row]
        several = len(evaluator.criteria) > 1
        return [{one.criterion: one for one in records} if several else records[0] for records in by_row]


def description(kind: type[Evaluator]) -> str:
    """What it says, gives, reads and needs, and where it is from: the docstring of its function."""
    made = kind(Setup("openai:none"))
    names = ", ".join(criterion.name for criterion in made.criteria)
    lines = [about(kind), ""]
    lines += [f"Gives {names}."] if len(made.criteria) > 1 else []
    lines += [f"Reads {', '.join(columns_needed(kind))}. Asks {_ASKS[kind.asks]}."]
    lines += [f"Source: {kind.source}."] if kind.source else []
    return "\n".join(lines)


_ASKS = {"judge": "the model", "model": "a model of its own", "nothing": "no model"}


def judge_names() -> list[str]:
    """The names of all functions, in the catalog's order, then those of what other packages bring."""
    return list(dict.fromkeys([*built_in(), *names_of(GROUP)]))


def named(name: str) -> JudgeFunction:
    """The function of a judge: of one of ours or another package's by its name, of your own by `module:Class`.

    Raises InputError for a name that there is not.
    """
    return JudgeFunction(name, type_of(name, Path(), Path("judges")))


def judge_function(name: str) -> JudgeFunction:
    """The function of a judge that `judge_names` has, an attribute of `ragassay.judges`.

    Raises AttributeError, and InputError for what another package brings and cannot be used.
    """
    if name not in (known := judge_names()):
        remedy = did_you_mean(name, known) or "`dir(ragassay.judges)` lists them"
        raise AttributeError(f"there is no judge named '{plain(name)}'; {remedy.strip()}")
    return named(name)


def check_one(name: str) -> type[Evaluator]:
    """The class of a judge that is asserted on. Raises InputError."""
    if "," in name:
        raise InputError(f"'{plain(name)}' is no judge's name", remedy="give each name by itself")
    return type_of(name, Path(), Path("judges"))
