"""Pages of a test run are made from templates that are compiled once in a process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import CodeType

import pytest
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket

from ragassay.evaluate.report import plots


class Compiled(BytecodeCache):
    """The templates' code, by what Jinja calls a template of a file with this content."""

    def __init__(self) -> None:
        self.code: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self.code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.code[bucket.key, bucket.checksum] = bucket.code


@pytest.fixture(autouse=True, scope="session")
def templates_compiled_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "Environment", partial(Environment, bytecode_cache=Compiled()))
        yield
