"""All that is looked for as personal; of overlapping findings the earlier listed counts, which has the surer check."""

from __future__ import annotations

from .accounts import CARD, IBAN
from .addresses import ADDRESSES
from .contacts import EMAIL, PHONES
from .identities import IDENTITIES

PERSONAL = (EMAIL, IBAN, CARD, *IDENTITIES, *ADDRESSES, *PHONES)
"""The kinds of `pii_leakage`."""
