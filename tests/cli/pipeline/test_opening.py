"""Who holds a results folder."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from support.made_up_results.workspace import make_workspace

from ragassay.cli.pipeline.opening import locked
from ragassay.errors import InputError


def test_a_second_run_is_refused_and_a_forked_child_keeps_nobody_out(tmp_path: Path):
    workspace = make_workspace(tmp_path)
    ready, wait = os.pipe()
    with locked(workspace):
        with pytest.raises(InputError, match="another run is writing here"), locked(workspace):
            pass
        child = os.fork()
        if child == 0:
            os.write(wait, b"!")
            signal.pause()
            os._exit(0)
        os.read(ready, 1)
    try:
        with locked(workspace):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
