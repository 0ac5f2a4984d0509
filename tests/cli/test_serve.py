"""`ragassay serve`: says where it is, answers there, and ends by Ctrl-C; what it cannot serve is one sentence."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import urllib.error
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


def test_on_every_address_it_answers_to_any_name_with_the_token_alone(tmp_path: Path):
    workspace = make_workspace(tmp_path)
    (workspace.corpus / "experiment.toml").write_text(EXPERIMENT)
    words = [str(workspace.corpus), "--results", str(workspace.results), "--port", "0", "--host", "0.0.0.0"]
    server = subprocess.Popen(
        [sys.executable, "-m", "ragassay", "serve", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        found = re.search(r"(http://127\.0\.0\.1:\d+/)(\?token=\S+)", server.stdout.readline())
        assert found and "this machine's name" in server.stdout.readline()

        def asked(address: str) -> int:
            request = urllib.request.Request(address, headers={"host": "desk.example:8765"})
            opener = urllib.request.build_opener(Unmoved)
            with contextlib.suppress(urllib.error.HTTPError):
                return int(opener.open(request, timeout=30).status)
            return 403

        assert asked(found[1]) == 403 and asked(found[1] + found[2]) == 303
    finally:
        server.kill()
        server.communicate()


class Unmoved(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for the answer."""

    def http_error_303(self, req, fp, code, msg, headers):
        return fp


def test_what_cannot_be_served_is_one_sentence(capsys):
    assert main(["serve"]) == 2
    assert main(["serve", "nowhere"]) == 2
    assert main(["serve", "--port", "99999999"]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 3 and "Traceback" not in "".join(said)
