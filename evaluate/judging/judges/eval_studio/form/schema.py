"""JSON schema: whether the answer, and what was retrieved for it, is JSON and fits a schema.

The schema is `metadata.json_schema` of the query, or the file that the option `schema` names, or `{}`, which any JSON
fits. An answer must be JSON from its first character to its last, or with the option `fenced` may stand in one block of
code (```); the context is JSON, or fits, where one of the passages is or does, since the agent had it then. What is no
JSON fits no schema. A bomb (nested too deep, numbers too long, a schema that refers to itself without end) is an error.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, NamedTuple

from pydantic import ConfigDict, Field

from ragassay.errors import InputError, needing
from ragassay.files import read_text
from ragassay.records import Assessment, Query
from ragassay.text import plain

from ....engine.cases import AnswerCase
from ....engine.evaluator import Criterion, Options, Rule, check_passages, records
from ....engine.question import JudgeFailed
from .matching import PatternError, compiled, found


class NotJson(ValueError):
    """The text is not JSON (RFC 8259)."""


def parsed(text: str) -> Any:
    """The value. Raises NotJson; JudgeFailed for what is nested too deep or has a number too long to be read."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise NotJson(f"line {error.lineno} column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise JudgeFailed("the JSON is nested too deep to be read") from None
    except NotJson:
        raise
    except ValueError as error:
        raise JudgeFailed(f"the JSON has a number that cannot be read ({error})") from None


def _refuse(constant: str) -> Any:
    raise NotJson(f"{constant} is no JSON")


Check = Callable[[Any], str | None]
"""From a value to what is wrong with it, None where it fits. Raises JudgeFailed where that cannot be found out."""

MOST_REFERENCES = 100_000
"""That are followed for one value: some seconds."""


class SchemaError(ValueError):
    """What is no JSON schema, and why."""


def checker(schema: Any) -> Check:
    """The check of a schema, of the draft that its `$schema` names (default 2020-12).

    What differs from jsonschema as it comes: patterns are RE2's, which no text can make hang; equal items are found by
    hashing and not in pairs; references are counted; nothing is fetched, and `format` is an annotation, not checked.
    Raises SchemaError where it is none, or has patterns that RE2 cannot read; MissingExtra.
    """
    jsonschema = _jsonschema()
    if not isinstance(schema, dict | bool):
        raise SchemaError("it is no object")
    if isinstance(schema, dict) and not isinstance(schema.get("$schema", ""), str):
        raise SchemaError("its $schema is not text")
    draft = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        draft.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise SchemaError(str(error.message)[:300]) from None
    except RecursionError:
        raise SchemaError("it is nested too deep") from None
    except Exception as error:  # noqa: BLE001  (whatever the library trips over)
        raise SchemaError(f"it cannot be checked ({_said(error)})") from None
    _check_patterns(schema)
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable

    count = _Count()
    made = jsonschema.validators.extend(draft, _keywords(draft.VALIDATORS, count))(schema, registry=REGISTRY)

    def check(value: Any) -> str | None:
        count.followed = 0
        try:
            first = next(made.iter_errors(value), None)
        except RecursionError:
            raise JudgeFailed("value or schema is nested too deep to be held against one another") from None
        except Unresolvable as error:
            raise JudgeFailed(f"the schema refers to what is not in it ({error}); nothing is fetched") from None
        except JudgeFailed:
            raise
        except Exception as error:  # noqa: BLE001  (whatever the library trips over, such as numbers too large for it)
            raise JudgeFailed(f"the value cannot be held against the schema ({_said(error)})") from None
        return None if first is None else f"{first.json_path}: {first.message}"

    return check


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"


class _Count(threading.local):
    """How many references were followed for a value."""

    followed = 0


def _keywords(usual: Any, count: _Count) -> dict[str, Any]:
    """Ours in place of jsonschema's."""

    def followed(keyword: str) -> Any:
        def follow(validator: Any, reference: Any, instance: Any, schema: Any) -> Iterator[Any]:
            count.followed += 1
            if count.followed > MOST_REFERENCES:
                raise JudgeFailed(f"more than {MOST_REFERENCES:,} references of the schema had to be followed")
            yield from usual[keyword](validator, reference, instance, schema) or ()

        return follow

    references = {name: followed(name) for name in ("$ref", "$dynamicRef", "$recursiveRef") if name in usual}
    ours = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
    }
    return references | ours


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    del schema
    if validator.is_type(instance, "string") and not found(pattern, instance):
        yield _jsonschema().ValidationError(f"the text does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    del schema
    if validator.is_type(instance, "object"):
        for pattern, part in patterns.items():
            for name, value in instance.items():
                if found(pattern, name):
                    yield from validator.descend(value, part, path=name, schema_path=pattern)


def _additional_properties(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    patterns, named = schema.get("patternProperties", {}), schema.get("properties", {})
    for name, value in instance.items():
        if name in named or any(found(pattern, name) for pattern in patterns):
            continue
        if wanted is False:
            yield _jsonschema().ValidationError(f"the property {name!r} is not expected")
        elif validator.is_type(wanted, "object"):
            yield from validator.descend(value, wanted, path=name)


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    del schema
    among = instance if wanted and validator.is_type(instance, "array") else []
    if len({_hashable(item) for item in among}) != len(among):
        yield _jsonschema().ValidationError("two items are equal")


def _hashable(value: Any) -> Hashable:
    """Equal for what JSON schema calls equal: 1 and 1.0, but not 1 and true."""
    if isinstance(value, dict):
        return "object", frozenset((name, _hashable(one)) for name, one in value.items())
    if isinstance(value, list):
        return "array", tuple(map(_hashable, value))
    return isinstance(value, bool), value


def _check_patterns(schema: Any) -> None:
    """Every pattern in it can be read by RE2, and nothing needs patterns that jsonschema reads by itself.

    Raises SchemaError.
    """
    left, named, unevaluated = [schema], False, False
    while left:
        one = left.pop()
        left += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        if isinstance(one, dict):
            patterns = one.get("patternProperties")
            given = [*(patterns if isinstance(patterns, dict) else ()), one.get("pattern")]
            for pattern in (text for text in given if isinstance(text, str)):
                try:
                    compiled(pattern)
                except PatternError as error:
                    raise SchemaError(f"the pattern {pattern!r}: {error}") from None
            named, unevaluated = named or isinstance(patterns, dict), unevaluated or "unevaluatedProperties" in one
    if named and unevaluated:
        raise SchemaError("patternProperties and unevaluatedProperties do not go together here")


def _jsonschema() -> Any:
    with needing("json_schema needs {}, which", "evaluators"):
        import jsonschema
        import jsonschema.validators
    return jsonschema


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


class JsonSchema(Rule):
    """Parses answer and passages and holds them against a schema."""

    name = "json_schema"
    place = 901
    family = "eval-studio-form"
    about = "whether answer and retrieved context are JSON and fit a JSON schema; asks no model"
    reads = ("context", "answer")
    may_lack = ("context",)
    by = "jsonschema"
    source = "H2O Eval Studio, JSON schema; json-schema.org, by jsonschema"
    tags = ("valid and reliable", "secure and resilient", "outcomes analysis")
    options: JsonSchemaOptions
    options_type = JsonSchemaOptions
    criteria = tuple(Criterion(f"json_{what}_{how}", threshold=0.5) for what, how in product(WHAT, (PARSES, FITS)))

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
        block = _FENCE.fullmatch(case.text) if self.options.fenced else None
        answer = self._looked([block[1] if block else case.text], check)
        try:
            check_passages(case)
            texts = [passage.text for passage in case.passages]
            context = self._looked(texts, check) if texts else Looked(None, None, "the agent retrieved nothing")
        except JudgeFailed as error:
            context = Looked(None, None, str(error), failed=True)
        values, none = {}, {}
        for what, looked in (("answer", answer), ("context", context)):
            for how, value in ((PARSES, looked.parses), (FITS, looked.fits)):
                values[f"json_{what}_{how}"], none[f"json_{what}_{how}"] = value, looked.problem
        failed = [name for name in values if (answer if name.startswith("json_answer") else context).failed]
        details = [{"of": "answer", "problem": answer.problem}] if answer.problem else []
        return records(self, case, values, none, details=details, failed=failed)

    def _looked(self, texts: Sequence[str], check: Check) -> Looked:
        """Whether any of them parses, and fits; no value where one cannot be read."""
        problems: list[Problem | None] = []
        for text in texts:
            try:
                said = check(parsed(text))
                problems.append(None if said is None else Problem(True, said))
            except NotJson as error:
                problems.append(Problem(False, str(error)))
            except JudgeFailed as error:
                return Looked(None, None, str(error), failed=True)
        parses = any(one is None or one.parses for one in problems)
        first = next((one.said for one in problems if one is not None), "")
        return Looked(float(parses), float(None in problems), first[:_SHOWN])

    def _check(self, query: Query) -> Check:
        given = query.metadata.get("json_schema")
        if given is None:
            return self.default_check
        try:
            return _checker_of(json.dumps(given, sort_keys=True))
        except SchemaError as error:
            problem = f"query '{plain(query.id)}': metadata.json_schema is no JSON schema: {plain(str(error))}"
            raise InputError(problem, remedy="see https://json-schema.org") from None


@lru_cache(maxsize=256)
def _checker_of(schema: str) -> Check:
    return checker(json.loads(schema))
