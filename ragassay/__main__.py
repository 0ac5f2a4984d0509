"""`python -m ragassay` is `ragassay`."""

from ragassay.cli import console

console()
