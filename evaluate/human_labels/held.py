"""The corpus folder, held while what people say is read and written, so that two who write at once lose nothing."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ragassay.experiment.workspace import Workspace


@contextmanager
def corpus_held(workspace: Workspace) -> Iterator[None]:
    """Wait until no other thread or process holds it, and hold it; let go however it ends."""
    folder = os.open(workspace.corpus, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
