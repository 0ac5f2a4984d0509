"""`roles = "corpus"` from the command line: one request more, its roles in the prompts, the file and the notice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records
from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer
from support.need_replies import ROLES, labelled
from support.read_once import pdfs_read_once as pdfs_read_once
from support.small_corpus import make_corpus, own_folder

from ragassay.cli import main


def step(body: dict[str, Any]) -> str:
    return str(body["response_format"]["json_schema"]["name"])


def saying(roles: Callable[[dict[str, Any]], Any], bodies: list[dict[str, Any]]) -> Callable[..., Behaviour]:
    """A script for the server: `roles` for the request for them, sober replies for all else."""

    def script(number: int, body: dict[str, Any]) -> Behaviour:
        del number
        bodies.append(body)
        return reply(json.dumps(roles(body) if step(body) == "Roles" else labelled(body)))

    return script


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_folder(tmp_path, monkeypatch)


def write(corpus: Path, server: ScriptedServer, roles: str = '"corpus"') -> Path:
    make_corpus(corpus, "openai:m", server.base_url)
    path = corpus / "experiment.toml"
    path.write_text(path.read_text().replace('style = "passage"\n', f'roles = {roles}\nevidence = "section"\n'))
    assert main(["ingest", str(corpus)]) == 0
    return corpus.parent / "results" / "mine"


def told_to_writers(bodies: list[dict[str, Any]]) -> str:
    return "".join(body["messages"][-1]["content"] for body in bodies if step(body) == "Needs")


def test_one_request_more_is_planned_asked_once_and_told(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bodies: list[dict[str, Any]] = []
    with ScriptedServer("openai", saying(lambda body: labelled(body), bodies)) as server:
        results = write(corpus, server)
        capsys.readouterr()
        assert main(["plan", str(corpus), "--json"]) == 0
        planned = [row for row in json.loads(capsys.readouterr().out) if row["stage"] == "questions"]
        assert main(["questions", str(corpus)]) == 0
        said = " ".join(capsys.readouterr().out.split())
        n = len(bodies)
        assert sum(row["calls"] for row in planned) == n
        (results / "manifests" / "questions.json").unlink()
        (results / "roles.jsonl").rename(results / "before")
        assert main(["questions", str(corpus)]) == 0, "killed and resumed: the reply is at hand"
    assert len(bodies) == n and [step(body) for body in bodies].count("Roles") == 1 and step(bodies[0]) == "Roles"
    assert (results / "roles.jsonl").read_bytes() == (results / "before").read_bytes()
    assert records(results / "roles.jsonl") == [{"model": "openai:m", "role": role, "error": None} for role in ROLES]
    assert f"asked as: {'; '.join(ROLES)} (written by openai:m; put them into `roles` to keep or change them)" in said
    assert {row["metadata"]["role"] for row in records(results / "pool.jsonl")} == set(ROLES)
    assert all(f"asked by: {role}" in told_to_writers(bodies) for role in ROLES)
    assert "asked by: engineer" not in told_to_writers(bodies), "the experts' role gives way to those asked for"


def test_a_reply_that_fails_twice_leaves_no_role_and_says_so(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bodies: list[dict[str, Any]] = []
    too_few = {"roles": [{"role": "a \x1b[31mred pilot"}]}
    with ScriptedServer("openai", saying(lambda body: too_few, bodies)) as server:
        results = write(corpus, server)
        assert main(["questions", str(corpus)]) == 0
    assert [step(body) for body in bodies].count("Roles") == 2
    (row,) = records(results / "roles.jsonl")
    assert (row["model"], row["role"]) == ("openai:m", None) and "4 are needed" in row["error"]
    said = " ".join(capsys.readouterr().out.split())
    assert "no role was written from the corpus" in said and "\x1b" not in said
    assert "asked by" not in told_to_writers(bodies)
    assert not any("role" in row["metadata"] for row in records(results / "pool.jsonl"))


def test_a_list_is_asked_as_before_and_takes_the_file_away(corpus: Path) -> None:
    bodies: list[dict[str, Any]] = []
    with ScriptedServer("openai", saying(lambda body: labelled(body), bodies)) as server:
        results = write(corpus, server)
        assert main(["questions", str(corpus)]) == 0 and (results / "roles.jsonl").is_file()
        bodies.clear()
        write(corpus, server, '["a nurse on nights"]')
        assert main(["questions", str(corpus)]) == 0
    assert "Roles" not in map(step, bodies) and not (results / "roles.jsonl").exists()
    assert {row["metadata"]["role"] for row in records(results / "pool.jsonl")} == {"a nurse on nights"}
