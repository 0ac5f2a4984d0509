"""All that is looked for as personal, in the order in which overlapping findings go: what has the surest check first."""

from __future__ import annotations

from .accounts import CARD, IBAN
from .addresses import ADDRESSES
from .contacts import EMAIL, PHONES
from .identities import IDENTITIES

PERSONAL = (EMAIL, IBAN, CARD, *IDENTITIES, *ADDRESSES, *PHONES)
"""The kinds of `pii_leakage`."""

NAMES = tuple(dict.fromkeys(kind.name for kind in PERSONAL))
"""What they are called, each once."""
