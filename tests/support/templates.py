"""Pages of a test run are made from templates that are compiled once in a process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partialmethod
from types import CodeType

import pytest
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket


class Compiled(BytecodeCache):
    """The templates' code, by what Jinja calls a template of a file with this content, and what shapes its code."""

    def __init__(self) -> None:
        self.code: dict[tuple[object, ...], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self.code.get(_key(bucket))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.code[_key(bucket)] = bucket.code


def _key(bucket: Bucket) -> tuple[object, ...]:
    made = bucket.environment
    shaping = (type(made), made.autoescape, made.trim_blocks, made.lstrip_blocks, made.finalize is None)
    return (bucket.key, bucket.checksum, *shaping)


@pytest.fixture(autouse=True, scope="session")
def templates_compiled_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Environment, "__init__", partialmethod(Environment.__init__, bytecode_cache=Compiled()))
        yield
