"""`ragassay plan` where the user's own systems take part: exact when their answers are there, foreseen when not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, make_corpus

from ragassay.cli import main


def planned(corpus: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["plan", str(corpus), "--json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def agent(kind: str, source: str) -> str:
    return f'\n[[agent]]\nname = "ours"\nkind = "{kind}"\n{source}\n'


def test_a_callable_is_not_called_and_after_the_run_nothing_is_left_to_pay(tmp_path: Path, capsys):
    own = agent("python", 'callable = "ours_for_the_plan:answer"')
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, more=own)
        code = "open('called', 'w').close()\ndef answer(query):\n    return 'As the manual says.'\n"
        (corpus / "ours_for_the_plan.py").write_text(code)
        before = planned(corpus, capsys)
        assert not (tmp_path / "called").exists() and any(row["estimated"] for row in before)
        assert main(["run", str(corpus)]) == 0
        after = planned(corpus, capsys)
    assert not any(row["estimated"] for row in after)
    assert all(row["from_cache"] == row["calls"] > 0 for row in after)
    assert sum(row["calls"] for row in after) == len(server.requests)


def test_answers_that_are_not_there_yet_are_foreseen_and_the_run_says_where_they_belong(tmp_path: Path, capsys):
    own = agent("file", 'path = "ours.jsonl"')
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, more=own)
        assert main(["run", str(corpus)]) == 2
        assert "agent 'ours' has no answers yet" in capsys.readouterr().err
        assert {row["stage"] for row in planned(corpus, capsys) if row["estimated"]} == {"judge"}
        queries = records(tmp_path / "results/mine/queries.jsonl")
        answers = [json.dumps({"query_id": query["_id"], "answer": "Read the manual."}) for query in queries]
        (corpus / "ours.jsonl").write_text("\n".join(answers))
        assert main(["run", str(corpus)]) == 0
        assert not any(row["estimated"] for row in planned(corpus, capsys))
