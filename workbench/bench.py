"""A results folder that is looked at, under the name that its addresses have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragassay.experiment.workspace import Workspace


@dataclass(frozen=True)
class Bench:
    """name: its part of every address, of letters, digits, dot, underscore and hyphen; unique among those served."""

    name: str
    workspace: Workspace

    @property
    def title(self) -> str:
        """The corpus folder's name, which is untrusted text."""
        return self.workspace.corpus.resolve().name


def benches_of(workspaces: Sequence[Workspace]) -> dict[str, Bench]:
    """By name, in the order given; a name that is taken gets a number."""
    benches: dict[str, Bench] = {}
    for workspace in workspaces:
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", workspace.results.resolve().name).strip("-.") or "results"
        name = next(n for n in (stem, *(f"{stem}-{i}" for i in range(2, len(workspaces) + 2))) if n not in benches)
        benches[name] = Bench(name, workspace)
    return benches
