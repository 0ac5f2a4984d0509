"""What request files of a step are called: `STEP-MODEL`, each model with files of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from ragassay.digests import digest_bytes


def labels(models: Iterable[str], step: str) -> dict[str, str]:
    """Model to `STEP-NAME`, with a digest where two names would come out alike in a file system."""
    named = {model: f"{step}-" + re.sub(r"[^A-Za-z0-9._-]+", "-", model) for model in models}
    often = Counter(label.casefold() for label in named.values())
    return {
        model: label if often[label.casefold()] == 1 else f"{label}-{digest_bytes(model.encode())[:8]}"
        for model, label in named.items()
    }
