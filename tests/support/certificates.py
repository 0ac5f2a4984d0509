"""The certificates of the authorities are read once: to read them anew for each client takes longer than most tests."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from functools import cache

import pytest


@pytest.fixture(autouse=True, scope="session")
def certificates_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield
