"""`ragassay model fetch MODEL`: download a local model."""

from __future__ import annotations

import argparse


def model(options: argparse.Namespace) -> int:
    """Fetch the model named, resumably, and say where it lies."""
    from ragassay.models.local.fetch import fetch

    path = fetch(options.name)
    print(f"{options.name}: {path}")
    return 0
