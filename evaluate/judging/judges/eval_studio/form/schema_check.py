"""Holding a value against a JSON schema by jsonschema, on values and schemas that may be hostile.

What differs from jsonschema as it comes: patterns are RE2's, which no text can make hang; equal items are found by
hashing and not in pairs; references are counted; nothing is fetched, and `format` is an annotation and not checked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from ragassay.errors import MissingExtra

from ....engine.reply import JudgeFailed
from .safe_patterns import PatternError, compiled, found

Check = Callable[[Any], str | None]
"""From a value to what is wrong with it, None where it fits. Raises JudgeFailed where that cannot be found out."""

MOST_REFERENCES = 100_000
"""That are followed for one value: some seconds."""


class SchemaError(ValueError):
    """What is no JSON schema, and why."""


def checker(schema: Any) -> Check:
    """The check of a schema, of the draft that its `$schema` names (default 2020-12).

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
    return _check_of(schema, draft)


def _check_of(schema: Any, draft: Any) -> Check:
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable

    count = _Count()
    made = _jsonschema().validators.extend(draft, _keywords(draft.VALIDATORS, count))(schema, registry=REGISTRY)

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

    def one_more(self) -> None:
        """Raises JudgeFailed."""
        self.followed += 1
        if self.followed > MOST_REFERENCES:
            raise JudgeFailed(f"more than {MOST_REFERENCES:,} references of the schema had to be followed")


def _keywords(usual: Any, count: _Count) -> dict[str, Any]:
    """Ours in place of jsonschema's."""

    def followed(keyword: str) -> Any:
        def follow(validator: Any, reference: Any, instance: Any, schema: Any) -> Iterator[Any]:
            count.one_more()
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
            for pattern in given:
                if isinstance(pattern, str):
                    _readable(pattern)
            named, unevaluated = named or isinstance(patterns, dict), unevaluated or "unevaluatedProperties" in one
    if named and unevaluated:
        raise SchemaError("patternProperties and unevaluatedProperties do not go together here")


def _readable(pattern: str) -> None:
    try:
        compiled(pattern)
    except PatternError as error:
        raise SchemaError(f"the pattern {pattern!r}: {error}") from None


def _jsonschema() -> Any:
    try:
        import jsonschema
        import jsonschema.validators
    except ModuleNotFoundError as error:
        raise MissingExtra(f"json_schema needs {error.name}, which", "evaluators") from None
    return jsonschema
