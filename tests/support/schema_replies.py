"""Replies that fit whatever schema a request asks for, the same for the same request: a stand-in for a model."""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

SUBJECTS = ["the watchdog timer", "the boot loader", "port B", "the stack pointer", "the EEPROM", "the UART", "a fuse"]
VERBS = ["reset", "configure", "protect", "read", "initialise", "disable", "relocate", "verify"]


def reply_to(body: dict[str, Any]) -> str:
    """The text of a reply to a chat completion request."""
    chance = random.Random(hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest())
    wanted = body.get("response_format")
    if wanted is None:
        return f"It is done with {chance.choice(SUBJECTS)} [1]. What else is asked could not be found."
    schema = wanted["json_schema"]["schema"]
    return json.dumps(instance_of(schema, schema.get("$defs", {}), chance))


def instance_of(schema: dict[str, Any], definitions: dict[str, Any], chance: random.Random) -> Any:
    """A value that fits the schema."""
    if "$ref" in schema:
        return instance_of(definitions[schema["$ref"].split("/")[-1]], definitions, chance)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "const" in schema:
        return schema["const"]
    if schema.get("type") == "object":
        return {name: instance_of(part, definitions, chance) for name, part in schema["properties"].items()}
    if schema.get("type") == "array" and (several := _several(schema["items"], definitions, chance)):
        return several
    if schema.get("type") == "array":
        length = schema.get("maxItems", 4)
        return [instance_of(schema["items"], definitions, chance) for _ in range(length)]
    if schema.get("type") == "integer":
        return schema.get("minimum", 0)
    number = chance.randrange(10**6)
    return f"How do I {chance.choice(VERBS)} {chance.choice(SUBJECTS)} when register R{number} holds {number % 997}?"


def _several(item: dict[str, Any], definitions: dict[str, Any], chance: random.Random) -> list[Any] | None:
    """A row for each number, or groups of all letters, where the items say which numbers or letters there are."""
    if "$ref" in item:
        item = definitions[item["$ref"].split("/")[-1]]
    if numbers := item.get("properties", {}).get("number", {}).get("enum"):
        return [instance_of(item, definitions, chance) | {"number": number} for number in numbers]
    if item.get("type") == "array" and (letters := item["items"].get("enum")):
        shuffled = chance.sample(letters, len(letters))
        return [shuffled[:2], *([letter] for letter in shuffled[2:])]
    return None
