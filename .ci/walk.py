"""The way from PDFs to a report, walked as a new user does, with the command given: `python walk.py RAGASSAY …`.

Without a model, with a server by its address, with a key, with one's own questions in a table. Every stop on the way
must be one sentence that names the next step, and nothing may be asked of a model before the last of them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from pathlib import Path
from typing import Any

from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer
from support.need_replies import labelled
from support.pdf_maker import make_pdf
from support.schema_replies import reply_to
from support.small_corpus import page

NOBODY = "http://127.0.0.1:9/v1"


class Walk:
    """A user's folder, environment and command."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.command, self.folder = command, folder
        left_out = {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "PYTHONPATH"}
        self.environment = {name: value for name, value in os.environ.items() if name not in left_out}
        self.environment |= {"HF_HUB_OFFLINE": "1", "NO_PROXY": "127.0.0.1"}

    def do(self, *arguments: str) -> tuple[int, str, str]:
        """Status, stdout, stderr."""
        done = subprocess.run(
            [*self.command, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        sys.stderr.write(f"$ ragassay {' '.join(arguments)} [{done.returncode}]\n{done.stderr[-1500:]}\n")
        return done.returncode, done.stdout, done.stderr

    def stops(self, *arguments: str, says: str, then: str) -> None:
        """One sentence on stderr, status 2, that says this and names this next step."""
        status, _, stderr = self.do(*arguments)
        said = [line for line in stderr.splitlines() if line.startswith("ragassay: ")]
        assert status == 2 and len(said) == 1, (status, stderr)
        assert says in said[0] and then in said[0], said[0]

    def goes_on(self, *arguments: str, says: str) -> None:
        """Status 0, and this on stdout."""
        status, stdout, stderr = self.do(*arguments)
        assert status == 0 and says in stdout, (status, stdout, stderr)

    def serves(self, name: str) -> None:
        """The comparison is there in a browser, at the address that is printed."""
        command = [*self.command, "serve", name, "--port", "0"]
        with subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as done:
            try:
                assert done.stdout is not None
                address = next(found[0] for line in done.stdout if (found := re.search(r"http://\S+", line)))
                ends = time.monotonic() + 120
                while b"bm25-rag-fusion" not in (page := urllib.request.urlopen(address, timeout=60).read()):  # noqa: S310
                    assert time.monotonic() < ends, page.decode()
                    time.sleep(1)
            finally:
                done.terminate()


def answer(number: int, body: dict[str, Any]) -> Behaviour:
    """A fitting reply to whatever is asked."""
    del number
    wanted = labelled(body)
    return reply(reply_to(body) if wanted is None else json.dumps(wanted))


def make_small(corpus: Path) -> None:
    """A few questions of a few sections, so that the walk is short."""
    path = corpus / "experiment.toml"
    text = re.sub(r"^quota = .*$", lambda line: line[0].replace("= 100", "= 3"), path.read_text(), flags=re.MULTILINE)
    path.write_text(text.replace("sections = 24 ", "sections = 4 ").replace("bootstrap = 1000", "bootstrap = 200"))


def write_questions(corpus: Path) -> None:
    """What an expert would ask."""
    (corpus / "questions.txt").write_text("How do I stop the watchdog?\nWhat is register R31 for?\nWhen do I wait?\n")


def without_a_model(walk: Walk) -> None:
    """It is said what would be one, and nothing is made."""
    walk.stops("new", "mine", "manual.pdf", says="no model is in reach", then="OPENAI_API_KEY")
    walk.stops("new", "mine", "manual.pdf", "--base-url", NOBODY, says="Connection refused", then="start the server")
    walk.stops("run", "mine", says="there is no such folder", then="ragassay new")
    assert not (walk.folder / "mine").exists()


def with_a_server(walk: Walk, server: ScriptedServer) -> None:
    """From its address to a report, past whatever is wrong on the way."""
    corpus = walk.folder / "mine"
    walk.goes_on("new", "mine", "manual.pdf", "--base-url", server.base_url, says="models: openai:scripted")
    make_small(corpus)
    for verb in ("plan", "run"):
        walk.stops(verb, "mine", says="questions.txt: has no question", then="write one question a line")
    write_questions(corpus)
    whole = (corpus / "experiment.toml").read_text()
    gone = '\n[[agent]]\nname = "ours"\nkind = "python"\ncallable = "gone:ask"\n'
    (corpus / "experiment.toml").write_text(whole + gone)
    walk.goes_on("plan", "mine", says="1. mine/experiment.toml: agent 'ours'")
    walk.stops("run", "mine", says="agent 'ours'", then="it is looked for in")
    (corpus / "experiment.toml").write_text(whole)
    walk.goes_on("plan", "mine", says="Time for these calls: about")
    assert not server.requests, "something was asked before the last stop"
    to_the_report(walk, "mine", server)


def with_a_key(walk: Walk, server: ScriptedServer) -> None:
    """The provider stands on loopback; without its key nothing is sent there."""
    walk.environment["OPENAI_BASE_URL"] = server.base_url
    named = ("new", "hosted", "manual.pdf", "--model", "openai:gpt-4o")
    walk.goes_on(*named, says="before a run: openai:gpt-4o needs a key")
    make_small(walk.folder / "hosted")
    write_questions(walk.folder / "hosted")
    walk.goes_on("plan", "hosted", says="1. openai:gpt-4o needs a key")
    walk.stops("run", "hosted", says="OPENAI_API_KEY is not set", then="export OPENAI_API_KEY")
    assert not server.requests, "something was asked before there was a key"
    walk.environment["OPENAI_API_KEY"] = "sk-of-the-walk"
    to_the_report(walk, "hosted", server)
    assert {received.headers["authorization"] for received in server.requests} == {"Bearer sk-of-the-walk"}
    written = b"".join(path.read_bytes() for path in (walk.folder / "results/hosted").rglob("*") if path.is_file())
    assert b"sk-of-the-walk" not in written


def with_own_questions(walk: Walk, server: ScriptedServer) -> None:
    """Fifty questions in a table with German headings, two PDFs, in a browser after four commands: each retriever
    that is offered (three with the extra `local`) under RAG and RAG-Fusion.
    """
    rows = [f"{n};Wofür ist Register R{n}?;Für {n}" for n in range(1, 51)]
    (walk.folder / "Fragen.csv").write_text("\n".join(["Nr.;Frage;Erwartete Antwort", *rows]) + "\n", encoding="utf-8")
    documents = ("manual.pdf", "more.pdf", "--questions", "Fragen.csv")
    walk.goes_on("new", "own", *documents, "--base-url", server.base_url, says="50 questions from the column 'Frage'")
    walk.goes_on("plan", "own", says="expected answers from 'Erwartete Antwort', ids from 'Nr.'")
    assert not server.requests, "something was asked by a plan"
    to_the_report(walk, "own", server)
    results = walk.folder / "results/own"
    agents = {path.stem for path in (results / "answers").glob("*.jsonl")}
    walk.serves("own")
    settings = tomllib.loads((walk.folder / "own/experiment.toml").read_text(encoding="utf-8"))
    assert (
        len(agents) == 2 * len(settings["retrieval"]["retrievers"])
        and len((results / "queries.jsonl").read_text().splitlines()) == 50
    ), agents


def to_the_report(walk: Walk, name: str, server: ScriptedServer) -> None:
    """The report is there, and a second run asks nothing."""
    status, stdout, stderr = walk.do("run", name)
    assert status in (0, 1) and f"report: results/{name}/report.html" in stdout, (status, stdout, stderr)
    assert (walk.folder / "results" / name / "report.html").read_text().startswith("<!")
    n_asked = len(server.requests)
    assert n_asked and walk.do("run", name)[0] == status and len(server.requests) == n_asked


def main(command: list[str]) -> None:
    """Walk the ways in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        make_pdf(Path(folder) / "manual.pdf", [page(number) for number in range(1, 9)])
        make_pdf(Path(folder) / "more.pdf", [page(number) for number in range(9, 13)])
        without_a_model(Walk(command, Path(folder)))
        with ScriptedServer("openai", answer) as server:
            with_a_server(Walk(command, Path(folder)), server)
        with ScriptedServer("openai", answer) as server:
            with_a_key(Walk(command, Path(folder)), server)
        with ScriptedServer("openai", answer) as server:
            with_own_questions(Walk(command, Path(folder)), server)
    sys.stdout.write(
        "walk: from PDFs to a report, by a server, with a key, with own questions; every stop one sentence\n"
    )


main(sys.argv[1:])
