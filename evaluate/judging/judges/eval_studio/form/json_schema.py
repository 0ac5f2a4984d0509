"""JSON schema: whether the answer, and what was retrieved for it, is JSON and fits a schema.

The schema is `metadata.json_schema` of the query, or the file that the option `schema` names, or `{}`, which any JSON
fits. An answer must be JSON from its first character to its last, or with the option `fenced` may stand in one block of
code (```); the context is JSON, or fits, where one of the passages is or does, since the agent had it then. What is no
JSON fits no schema. A bomb (nested too deep, numbers too long, a schema that refers to itself without end) is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from pydantic import ConfigDict, Field

from ragassay.errors import InputError
from ragassay.files import read_text
from ragassay.records import Assessment, Query
from ragassay.text import plain

from ....engine.cases import AnswerCase
from ....engine.evaluator import Criterion, Evaluator, Options, check_passages
from ....engine.parts import records
from ....engine.reply import JudgeFailed
from .json_text import NotJson, parsed
from .schema_check import Check, SchemaError, checker

WHAT = ("answer", "context")
PARSES, FITS = "parses", "fits_schema"
_FENCE = re.compile(r"\s*```[a-z]*[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL)
_SHOWN = 300


class Problem(NamedTuple):
    """What is wrong with a text, and whether it is JSON at least."""

    parses: bool
    said: str


class Looked(NamedTuple):
    """1 or 0, or None with the reason as `problem`; failed: whether that is a failure to judge."""

    parses: float | None
    fits: float | None
    problem: str
    failed: bool = False


class JsonSchemaOptions(Options):
    """schema: a file of the user's, relative to the corpus folder. fenced: whether a block of code may stand around."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    schema_file: str | None = Field(None, alias="schema")
    fenced: bool = False


class JsonSchema(Evaluator):
    """Parses answer and passages and holds them against a schema."""

    name = "json_schema"
    family = "eval-studio-form"
    about = "whether answer and retrieved context are JSON and fit a JSON schema; asks no model"
    calls = 0.0
    reads = ("context", "answer")
    may_lack = ("context",)
    asks = "nothing"
    source = "H2O Eval Studio, JSON schema; json-schema.org, by jsonschema"
    tags = ("valid and reliable", "secure and resilient", "outcomes analysis")
    options: JsonSchemaOptions
    options_type = JsonSchemaOptions

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Of the answer and of the context: parses, and fits; 1 or 0."""
        return tuple(Criterion(f"json_{what}_{how}", threshold=0.5) for what in WHAT for how in (PARSES, FITS))

    @property
    def judge(self) -> str:
        """The library: nobody judges."""
        return "jsonschema"

    @cached_property
    def default_check(self) -> Check:
        """By the option's schema, or `{}`. Raises InputError and MissingExtra."""
        if self.options.schema_file is None:
            return checker({})
        path = self.setup.folder / self.options.schema_file
        try:
            return checker(parsed(read_text(path)))
        except (NotJson, JudgeFailed, SchemaError) as error:
            raise InputError(f"is no JSON schema: {plain(str(error))}", file=path) from None

    def check_at_hand(self) -> None:
        """Raises InputError, before any model is asked, where the schema cannot be used."""
        self.default_check  # noqa: B018

    def check_query(self, query: Query) -> None:
        """Raises InputError where the schema that the query brings along is none, and MissingExtra."""
        self._check(query)

    def steps(self, case: AnswerCase) -> Sequence[Assessment]:
        """A record of each; of the context an error where the agent retrieved nothing."""
        check = self._check(case.query)
        answer = self._looked([_bare(case.text) if self.options.fenced else case.text], check)
        context = self._context(case, check)
        values, none = {}, {}
        for what, looked in (("answer", answer), ("context", context)):
            for how, value in ((PARSES, looked.parses), (FITS, looked.fits)):
                values[f"json_{what}_{how}"], none[f"json_{what}_{how}"] = value, looked.problem
        failed = [name for name in values if (answer if name.startswith("json_answer") else context).failed]
        details = [{"of": "answer", "problem": answer.problem}] if answer.problem else []
        return records(self, case, values, none, details=details, failed=failed)

    def _context(self, case: AnswerCase, check: Check) -> Looked:
        try:
            check_passages(case)
        except JudgeFailed as error:
            return Looked(None, None, str(error), failed=True)
        if not case.passages:
            return Looked(None, None, "the agent retrieved nothing")
        return self._looked([passage.text for passage in case.passages], check)

    def _looked(self, texts: Sequence[str], check: Check) -> Looked:
        """Whether any of them parses, and fits; no value where one cannot be read."""
        problems: list[Problem | None] = []
        try:
            problems = [_problem(text, check) for text in texts]
        except JudgeFailed as error:
            return Looked(None, None, str(error), failed=True)
        parses = any(one is None or one.parses for one in problems)
        said = next((one.said for one in problems if one is not None), "")
        return Looked(float(parses), float(None in problems), said[:_SHOWN])

    def _check(self, query: Query) -> Check:
        given = query.metadata.get("json_schema")
        if given is None:
            return self.default_check
        try:
            return _checker_of(json.dumps(given, sort_keys=True))
        except SchemaError as error:
            problem = f"query '{plain(query.id)}': metadata.json_schema is no JSON schema: {plain(str(error))}"
            raise InputError(problem, remedy="see https://json-schema.org") from None


def _problem(text: str, check: Check) -> Problem | None:
    try:
        value = parsed(text)
    except NotJson as error:
        return Problem(False, str(error))
    said = check(value)
    return None if said is None else Problem(True, said)


def _bare(text: str) -> str:
    """The text without the marks of a block of code around it."""
    return found[1] if (found := _FENCE.fullmatch(text)) else text


@lru_cache(maxsize=256)
def _checker_of(schema: str) -> Check:
    return checker(json.loads(schema))
