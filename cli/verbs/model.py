"""`ragassay model fetch MODEL`: download a local model."""

from __future__ import annotations

import argparse

from ..options import Verbs, add_verb


def add_model(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(
        verbs, "model", "fetch a local model: `ragassay model fetch local:hf:OWNER/REPO/FILE.gguf`", run_model
    )
    verb.add_argument("action", choices=["fetch"], help="fetch: download it, resumably, and keep its sha256 on record")
    verb.add_argument("name", metavar="MODEL", help="local:hf:OWNER/REPO/FILE.gguf")


def run_model(options: argparse.Namespace) -> int:
    """Fetch the model named, resumably, and say where it lies."""
    from ragassay.models.local.fetch import fetch

    path = fetch(options.name)
    print(f"{options.name}: {path}")
    return 0
