"""A function of a tool's file, run by that tool's Python, which has nothing of ours: `inside.py FILE FUNCTION FOLDER`.

What it is given besides the folder comes as a JSON list from standard input; what it returns goes out as JSON. What the
tool prints goes to standard error. FUNCTION `objects` is ours: the file's MODULE has objects of the tool, which answer
or rank as they come what ASKED says, by ragassay installed beside it; WANTED has what they should give. FUNCTION
`judged` is ours, too: our command asks the model `ours` that the file's `served` has on loopback, and `served` says how
the file asks it in its own way.
"""

import json
import math
import os
import runpy
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen


def objects(tool: dict[str, Any], folder: Path) -> list[Any]:
    """What should be, and what is, by `NAME as KIND`."""
    from ragassay.retrieval.agents.worker import answer_of, load_system, ranking_of

    (folder / "objects_of_tool.py").write_text(tool["MODULE"])
    found = {}
    for told in tool["WANTED"]:
        name, kind = told.split(" as ")
        system, _ = load_system("mine", f"objects_of_tool:{name}", folder, kind)
        if kind == "agent":
            answer = answer_of(system, tool["ASKED"], "mine")
            found[told] = [answer["answer"] or answer["error"], list(answer["passages"])]
        else:
            ranked = ranking_of(system, tool["ASKED"], 5)
            found[told] = [list(pair) for pair in ranked.get("ranking", [[ranked.get("error")]])]
    return [tool["WANTED"], found]


ANSWER = {"query": "How many timers are there?", "answer": "There are three timers."}
KEY = f"sk-{secrets.token_hex(24)}"
SETTINGS = """answer.model = "openai:ours"
judge.model = "openai:ours"
questions.source = "own"
models."openai:ours" = {temperature = 0, max_tokens = 1000}
"""


def judged(tool: dict[str, Any], folder: Path) -> list[Any]:
    """What the tool replies, and what is kept of it by us, by how it is asked."""
    (folder / "answers.jsonl").write_text(json.dumps(ANSWER) + "\n", encoding="utf-8")
    (folder / "experiment.toml").write_text(SETTINGS, encoding="utf-8")
    wanted, found = {}, {}
    with tool["served"](folder, KEY) as (address, ask):
        for mode in ("label", "probability"):
            asked: list[dict[str, Any]] = []
            with _recorded(address, asked) as recorded:
                found[mode] = _judge(folder, mode, recorded)
            wanted[mode] = [_said(one, ask(one)) for one in asked]
    return [wanted, found]


def _said(asked: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
    (choice,) = reply["choices"]
    if "response_format" in asked:
        return {"value": json.loads(choice["message"]["content"])}
    top = [(one["token"].strip(), math.exp(one["logprob"])) for one in choice["logprobs"]["content"][0]["top_logprobs"]]
    grades = {grade: sum(share for token, share in top if token == grade) for grade in ("0", "1", "2", "3")}
    return {"probabilities": {grade: round(share / sum(grades.values()), 3) for grade, share in grades.items()}}


@contextmanager
def _recorded(address: str, asked: list[dict[str, Any]]) -> Iterator[str]:
    """The address of a server that hands on what it is asked, and keeps it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append(json.loads(body))
            told = {name: self.headers[name] for name in ("Authorization", "Content-Type")}
            with urlopen(Request(f"{address}{self.path}", body, told)) as reply:  # noqa: S310
                said = reply.read()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def _judge(folder: Path, mode: str, address: str) -> list[Any]:
    """What our command keeps of each reply."""
    files = {name: str(folder / f"{mode}-{name}.jsonl") for name in ("out", "kept-replies")}
    command = [os.environ["RAGASSAY_PYTHON"], "-m", "ragassay", "judge", "--answers", str(folder / "answers.jsonl")]
    command += ["--with", "answer_relevance", "--mode", mode, "--config", str(folder / "experiment.toml")]
    command += ["--model", "openai:ours", "--base-url", f"{address}/v1"]
    command += [word for name, path in files.items() for word in (f"--{name}", path)]
    subprocess.run(command, env={**os.environ, "OPENAI_API_KEY": KEY}, check=True)
    (kept,) = Path(files["kept-replies"]).read_text(encoding="utf-8").splitlines()
    replies: list[Any] = json.loads(kept)["replies"]
    for shares in (one["probabilities"] for one in replies if "probabilities" in one):
        shares.update({token: round(share, 3) for token, share in shares.items()})
    return replies


if __name__ == "__main__":
    _, file, function, folder = sys.argv
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    tool, given = runpy.run_path(file), json.load(sys.stdin)
    ours = {"objects": objects, "judged": judged}.get(function)
    found = ours(tool, Path(folder)) if ours else tool[function](Path(folder), *given)
    json.dump(found, out)
    out.flush()
    os._exit(0)  # some tools leave threads behind that would wait for a network
