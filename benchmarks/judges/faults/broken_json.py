"""JSON objects that hold a text, sound in several dresses, and broken in the ways of models that write JSON."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping

Made = Callable[[str, random.Random], str]

SCHEMA = {
    "type": "object",
    "required": ["answer", "sources"],
    "additionalProperties": False,
    "properties": {"answer": {"type": "string"}, "sources": {"type": "array", "items": {"type": "integer"}}},
}


def _sound(text: str, **more: object) -> str:
    return json.dumps({"answer": text, "sources": [1, 2], **more}, ensure_ascii=False)


def _cut(text: str, chance: random.Random) -> str:
    whole = _sound(text)
    return whole[: chance.randrange(1, len(whole) - 1)]


SOUND: Mapping[str, Made] = {
    "as it comes": lambda text, chance: _sound(text),
    "indented": lambda text, chance: json.dumps({"answer": text, "sources": []}, indent=2),
    "escaped to ASCII": lambda text, chance: json.dumps({"sources": [3], "answer": text}),
    "a newline behind it": lambda text, chance: _sound(text) + "\n",
    "a name twice, which RFC 8259 lets pass": lambda text, chance: '{"answer": "", ' + _sound(text)[1:],
}

BROKEN: Mapping[str, Made] = {
    "cut off": _cut,
    "last bracket missing": lambda text, chance: _sound(text)[:-1],
    "trailing comma": lambda text, chance: _sound(text)[:-1] + ",}",
    "comma missing": lambda text, chance: _sound(text).replace(', "sources"', ' "sources"'),
    "single quotes": lambda text, chance: f"{{'answer': {json.dumps(text)}, 'sources': [1]}}",
    "names without quotes": lambda text, chance: f"{{answer: {json.dumps(text)}, sources: [1]}}",
    "a line break in a string": lambda text, chance: f'{{"answer": "a\n{chance.randrange(9)}", "sources": [1]}}',
    "a bare backslash": lambda text, chance: _sound(text).replace('": "', '": "\\x', 1),
    "a comment": lambda text, chance: _sound(text)[:-1] + " // so\n}",
    "NaN": lambda text, chance: _sound(text).replace("[1, 2]", "[NaN]"),
    "Infinity": lambda text, chance: _sound(text).replace("[1, 2]", "[Infinity]"),
    "True of Python": lambda text, chance: _sound(text).replace("[1, 2]", "[True]"),
    "a leading zero": lambda text, chance: _sound(text).replace("[1, 2]", "[01]"),
    "in a block of code": lambda text, chance: f"```json\n{_sound(text)}\n```",
    "words before it": lambda text, chance: f"Here is the JSON:\n{_sound(text)}",
    "words behind it": lambda text, chance: f"{_sound(text)}\nI hope this helps.",
    "two objects": lambda text, chance: _sound(text) * 2,
}
"""By what is wrong with it by RFC 8259."""

UNFIT: Mapping[str, Made] = {
    "a field missing": lambda text, chance: json.dumps({"answer": text}),
    "a field too many": lambda text, chance: _sound(text, why="so"),
    "a number as text": lambda text, chance: _sound(text).replace("[1, 2]", '["1"]'),
    "null": lambda text, chance: json.dumps({"answer": None, "sources": []}),
    "a list around it": lambda text, chance: f"[{_sound(text)}]",
}
"""JSON, but not of SCHEMA."""
