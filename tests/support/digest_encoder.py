"""An encoder that makes each vector from its text's digest, and can be loaded by name in another process."""

from __future__ import annotations

import hashlib

import numpy as np


class DigestEncoder:
    """32 dimensions a text; the same text has the same vector in every process."""

    prompts: dict[str, str] = {}  # noqa: RUF012

    def encode_query(self, inputs, *, prompt, batch_size, show_progress_bar):
        digests = [hashlib.sha256((prompt + text).encode()).digest() for text in inputs]
        return np.stack([np.frombuffer(digest, np.uint8).astype(np.float32) - 127.5 for digest in digests])

    encode_document = encode_query


def load(name: str) -> DigestEncoder:
    assert name == "digest"
    return DigestEncoder()
