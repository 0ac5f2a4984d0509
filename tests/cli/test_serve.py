"""`ragassay serve`: says where it is, answers there, and ends by Ctrl-C; what it cannot serve is one sentence."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from support.made_up_results.workspace import make_workspace

from ragassay.cli import main

EXPERIMENT = '[questions]\nsource = "own"\n[answer]\nmodel = "file:m"\n[judge]\nmodel = "file:m"\n'


def test_it_is_where_it_says_and_ends_quietly(tmp_path: Path):
    workspace = make_workspace(tmp_path)
    (workspace.corpus / "experiment.toml").write_text(EXPERIMENT)
    words = [str(workspace.corpus), "--results", str(workspace.results), "--port", "0"]
    command = [sys.executable, "-m", "ragassay", "serve", *words]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())
        assert found
        with urllib.request.urlopen(found[0], timeout=30) as page:
            assert b"<!doctype html>" in page.read()
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0
    finally:
        server.kill()
        _, said = server.communicate()
    assert said == ""


def test_what_cannot_be_served_is_one_sentence(tmp_path: Path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["serve"]) == 2
    assert main(["serve", "nowhere"]) == 2
    assert main(["serve", "--port", "99999999"]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 3 and "Traceback" not in "".join(said)
