"""Which exit status an error has: those of docs/command-line.md."""

from __future__ import annotations

import pytest

from ragassay.errors import (
    BudgetSpent,
    InputError,
    MissingExtra,
    NothingCame,
    ProviderError,
    RagassayError,
    RepliesMissing,
)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ProviderError("x", retryable=False), 1),
        (InputError("x"), 2),
        (MissingExtra("x", "local"), 2),
        (RepliesMissing("x"), 3),
        (BudgetSpent("x"), 4),
        (NothingCame("x"), 6),
    ],
)
def test_exit_statuses(error: RagassayError, status: int):
    assert error.exit_status == status
