"""How long replies are, before there are any: what plans and cost limits go by.

The lengths are those of the recorded run of corpora/avr-libc (`python -m benchmarks.plan_accuracy`).
"""

from __future__ import annotations

_REPLY_TOKENS = {"questions": 290, "rewrites": 113, "answers": 115, "relevance": 55, "pointwise": 180, "games": 62}


def reply_tokens(label: str) -> int:
    """About how many tokens a reply to a request with this label has."""
    return _REPLY_TOKENS.get(label.split("-")[0], 100)
