"""`ragassay doctor`: a line for what was looked at, the mend of what is missing, and never a key."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.loopback.server import ScriptedServer
from support.places import ROOT
from support.small_corpus import answer_everything, make_corpus

from ragassay.cli import main
from ragassay.cli.verbs import doctor as checkup

KEY = "sk-proj-verysecretverysecret"


def seen(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, str]]:
    return {row["what"]: row for row in json.loads(capsys.readouterr().out)}


def test_the_installation_is_told_and_keys_are_not(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^ok     python: 3\.\d+", out, re.MULTILINE)
    assert "ok     OPENAI_API_KEY: is set\n" in out and "absent ANTHROPIC_API_KEY: is not set\n" in out
    assert KEY[:8] not in out and re.search(r"^ok     sqlite: 3\S+ with FTS5$", out, re.MULTILINE)


def test_every_extra_is_looked_for() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(checkup.EXTRAS) == set(extras) - {"dev"}


def test_an_extra_that_is_not_there_is_not_needed(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(checkup.EXTRAS, "documents", ("bs4", "no_such_module"))
    assert main(["doctor", "--json"]) == 0
    assert seen(capsys)["extra documents"] == {
        "what": "extra documents",
        "status": "absent",
        "said": 'lacks no_such_module; `pip install "ragassay[documents]"` brings it',
    }


def test_a_sound_experiment_is_told_so(tmp_path: Path, capsys: Any) -> None:
    with ScriptedServer("openai", answer_everything) as server:
        make_corpus(tmp_path / "mine", "openai:scripted", base_url=server.base_url)
        assert main(["doctor", "mine", "--json"]) == 0
        assert not server.requests
        found = seen(capsys)
        [model] = [row for what, row in found.items() if what.startswith("model ")]
        assert model["status"] == "ok" and model["said"] == f"somebody answers at {server.base_url}"
    assert not (tmp_path / "results").exists()


def test_what_a_run_would_lack_is_said_once_with_its_mend(tmp_path: Path, monkeypatch, capsys: Any) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    corpus = make_corpus(tmp_path / "mine", "openai:scripted", base_url="http://127.0.0.1:9/v1")
    (corpus / "questions.txt").unlink()
    assert main(["doctor", "mine"]) == 2
    mends = [line for line in capsys.readouterr().out.splitlines() if line.startswith("mend")]
    assert len([line for line in mends if "nobody answers at http://127.0.0.1:9/v1" in line]) == 1
    assert any(line.startswith("mend   corpus: ") and "questions.txt" in line for line in mends)


def test_a_corpus_that_cannot_be_opened_is_one_line(tmp_path: Path, capsys: Any) -> None:
    assert main(["doctor", str(tmp_path / "none"), "--json"]) == 2
    assert "there is no such folder" in seen(capsys)["experiment"]["said"]


def test_with_replies_on_record_no_key_is_needed(tmp_path: Path, capsys: Any) -> None:
    corpus = make_corpus(tmp_path / "mine", "openai:scripted", base_url="http://127.0.0.1:9/v1")
    (corpus / "replies").mkdir()
    assert main(["doctor", "mine", "--json"]) == 0
    [model] = [row for what, row in seen(capsys).items() if what.startswith("model ")]
    assert model["status"] == "absent" and "needed only for replies that are not on record" in model["said"]
