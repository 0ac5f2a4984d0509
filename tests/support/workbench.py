"""The workbench over results folders, asked without a network; the indexes are made before the first request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.testclient import TestClient

from ragassay.experiment.workspace import Workspace
from ragassay.workbench.app import WRITE_HEADER, Access, make_app
from ragassay.workbench.asked import benches_of
from ragassay.workbench.index.build import build
from ragassay.workbench.views.progress import StatesOf

WRITE = "what-our-pages-send"


@contextmanager
def browsing(
    *workspaces: Workspace, access: Access | None = None, states: StatesOf | None = None
) -> Iterator[TestClient]:
    """A client of the application; it sends what our pages send."""
    for workspace in workspaces:
        build(workspace, workspace.workbench / "index.sqlite")
    app = make_app(benches_of(workspaces), access or Access(write=WRITE), states)
    headers = {WRITE_HEADER: WRITE, "host": "localhost:8765"}
    with TestClient(app, base_url="http://localhost:8765", headers=headers) as client:
        yield client
