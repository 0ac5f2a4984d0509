"""The indexes of all folders: made in a process of their own when a folder is first seen or has changed."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

from ragassay.child_process import why_ended
from ragassay.experiment.workspace import Workspace

from ..bench import Bench
from ..kept import Kept
from .build import build, stamp_of
from .read import Index


class _Making:
    """A process of its own that makes one index and ends."""

    def __init__(self, workspace: Workspace, path: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._heard, says = context.Pipe(duplex=False)
        self._process: SpawnProcess = context.Process(target=_make, args=(says, workspace, path), daemon=True)
        self._process.start()
        says.close()

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return not self._process.is_alive()

    def error(self) -> str | None:
        """Why it made none; None where it did. Asked once, after it is done."""
        try:
            said: str | None = self._heard.recv()
        except EOFError:
            said = why_ended(self._process.exitcode or 0)
        return said

    def end(self) -> None:
        """Stop it; what it has written so far is no index."""
        self._process.kill()
        self._process.join()


def _make(says: Connection, workspace: Workspace, path: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal; ours is ended by us
    try:
        build(workspace, path)
    except Exception as error:  # noqa: BLE001 - whatever it is, the page says it
        says.send(str(error))
    else:
        says.send(None)


@dataclass
class _Folder:
    """What there is of one folder: the index in use, and the one that is being made."""

    index: Index | None = None
    making: _Making | None = None
    stamp: str = ""
    error: str | None = None


class Keeper:
    """Gives the index of a folder, has it made where it is missing or of before, and says why it cannot be made."""

    def __init__(self, kept: Kept) -> None:
        self._lock, self._kept = threading.Lock(), kept
        self._folders: dict[str, _Folder] = {}

    def begin(self, bench: Bench) -> None:
        """Have the index made unless it is there or on the way."""
        with self._lock:
            self._look(bench)

    def index(self, bench: Bench) -> Index | None:
        """The index of the folder, perhaps of a moment before; None while the first one is made."""
        with self._lock:
            return self._look(bench).index

    def error(self, bench: Bench) -> str | None:
        """Why the last index could not be made."""
        with self._lock:
            return self._look(bench).error

    def throw_away(self, bench: Bench) -> None:
        """Do without an index that cannot be read; it is made again."""
        with self._lock:
            folder = self._folders.setdefault(bench.name, _Folder())
            folder.index, folder.stamp = None, ""
            with suppress(OSError):
                self._path(bench).unlink()

    def close(self) -> None:
        """End what is being made."""
        with self._lock:
            for folder in self._folders.values():
                if folder.making is not None:
                    folder.making.end()
                if folder.index is not None:
                    folder.index.close()
            self._folders.clear()

    def is_made(self, bench: Bench) -> bool:
        """Whether there is an index, which may be of before; keeps nobody waiting."""
        return self._path(bench).exists()

    def _path(self, bench: Bench) -> Path:
        return self._kept.folder(bench.workspace) / "index.sqlite"

    def _look(self, bench: Bench) -> _Folder:
        folder = self._folders.setdefault(bench.name, _Folder())
        path = self._path(bench)
        self._take(folder, path)
        if folder.index is not None and not path.exists():
            folder.index, folder.stamp = None, ""
        stamp = stamp_of(bench.workspace)
        if folder.making is None and stamp != folder.stamp:
            if folder.index is None and path.exists() and Index(path).stamp == stamp:
                folder.index, folder.stamp = Index(path), stamp
            else:
                folder.stamp, folder.making = stamp, _Making(bench.workspace, path)
        return folder

    def _take(self, folder: _Folder, path: Path) -> None:
        """Put the index that was made in the place of the one before."""
        if folder.making is None or not folder.making.done:
            return
        folder.error, folder.making = folder.making.error(), None
        if folder.error is None:
            folder.index = Index(path)  # the one before is not closed: requests that have it go on with it
