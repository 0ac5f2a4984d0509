"""Where what the workbench makes of a results folder is kept: in it, or elsewhere where it cannot be written."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

from ragassay.experiment.workspace import Workspace


class Kept:
    """The folders for indexes and pictures; those that stand elsewhere are gone when the server ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._elsewhere: dict[Path, tempfile.TemporaryDirectory[str] | None] = {}

    def folder(self, workspace: Workspace) -> Path:
        """`workbench` in the results folder, or a temporary folder where nothing can be written there.

        Raises OSError where that cannot be either.
        """
        with self._lock:
            own = workspace.workbench
            if own not in self._elsewhere:
                if not workspace.results.is_dir():
                    return own
                self._elsewhere[own] = None if _can_be_written(own) else tempfile.TemporaryDirectory(prefix="ragassay-")
            elsewhere = self._elsewhere[own]
            return own if elsewhere is None else Path(elsewhere.name)

    def close(self) -> None:
        """Take the temporary folders away."""
        with self._lock:
            for elsewhere in self._elsewhere.values():
                if elsewhere is not None:
                    elsewhere.cleanup()
            self._elsewhere.clear()


def _can_be_written(folder: Path) -> bool:
    """Found by writing there: rights do not tell of a disk that is mounted to be read."""
    try:
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
