"""A whole run judged by a panel with a second judge behind a file: plan, calls, resumption, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records
from support.loopback.server import ScriptedServer
from support.schema_replies import reply_to
from support.small_corpus import answer_everything, contents, edit, make_corpus

from ragassay.cli import main

PANEL = ("openai:gpt-4o", "openai:gpt-4o-mini", "openai:gpt-4.1-mini")
JUDGE = f"[judge]\npanel = {json.dumps(PANEL)}\n"
SECOND = 'second = "file:dear"\nsecond_share = 0.5\n'


def corpus_of_panel(folder: Path, base_url: str | None = None, judge: str = JUDGE + SECOND) -> Path:
    own = "".join(f'\n[models."{name}"]\nbase_url = "{base_url}"\n' for name in PANEL[1:] if base_url)
    corpus = make_corpus(folder, PANEL[0], base_url, more=own)
    edit(corpus, f'[judge]\nmodel = "{PANEL[0]}"\n', judge)
    return corpus


def rows_of_judge(corpus: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    assert main(["plan", str(corpus), "--json"]) == 0
    return {row["model"]: row for row in json.loads(capsys.readouterr().out) if row["stage"] == "judge"}


def reply_by_hand(results: Path) -> int:
    """Answers every request that waits; how many there were."""
    lines = [row for path in sorted((results / "requests").glob("*.jsonl")) for row in records(path)]
    given = [
        {"custom_id": row["custom_id"], "response": {"status_code": 200, "body": {
            "choices": [{"message": {"content": reply_to(row["body"])}, "finish_reason": "stop"}]}}}
        for row in lines
    ]  # fmt: skip
    (results / "replies").mkdir(exist_ok=True)
    (results / "replies" / "by-hand.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    return len(lines)


def test_a_panel_and_a_second_judge_from_the_plan_to_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    results = tmp_path / "results" / "mine"
    with ScriptedServer("openai", answer_everything) as server:
        corpus = corpus_of_panel(tmp_path / "mine", server.base_url)
        before = rows_of_judge(corpus, capsys)
        assert set(before) == {*PANEL, "file:dear"} and not server.requests
        assert len({before[name]["calls"] for name in PANEL}) == 1
        assert 0.3 < before["file:dear"]["calls"] / before[PANEL[0]]["calls"] < 0.7
        assert main(["run", str(corpus)]) == 3, "the second judge's replies are missing"
        assert not (results / "relevance.jsonl").exists()
        n_calls = len(server.requests)
        judged = Counter(row.body["model"] for row in server.requests)
        assert judged["gpt-4o-mini"] == judged["gpt-4.1-mini"] > 0
        n_second = reply_by_hand(results)
        assert main(["run", str(corpus)]) == 0 and len(server.requests) == n_calls, "what was paid is not asked again"
    after = rows_of_judge(corpus, capsys)
    assert after["file:dear"]["calls"] == n_second
    assert all(row["from_cache"] == row["calls"] for row in after.values())

    figures = json.loads((results / "results.json").read_text())
    assert [row["judge"] for row in figures["panel"]["judges"]] == list(PANEL)
    assert figures["second"]["judge"] == "file:dear" and figures["second"]["n_asked"] > 0
    assert figures["settings"]["judge_model"] == ", ".join(PANEL)
    assert {row["judge"] for row in records(results / "games.jsonl")} == set(PANEL)
    assert {row["judge"] for row in records(results / "judges" / "openai-gpt-4o-mini" / "relevance.jsonl")} == {
        PANEL[1]
    }
    page = (results / "report.html").read_text()
    assert '<section id="judges">' in page and '<section id="second">' in page
    kept = contents(results)
    assert main(["run", str(corpus)]) == 0 and contents(results) == kept, "nothing is left to do"


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ('[judge]\npanel = ["openai:gpt-4o", "openai:gpt-4o"]\n', "panel names openai:gpt-4o twice"),
        ('[judge]\npanel = ["openai:gpt-4o", "nobody:m"]\n', "nobody"),
        (
            '[judge]\nmodel = "openai:a"\npanel = ["openai:gpt-4o", "file:m"]\n',
            "model is openai:a, which is not in panel",
        ),
        ('[judge]\nmodel = "openai:gpt-4o"\nsecond = "openai:gpt-4o"\n', "judges everything already"),
        ('[judge]\nmodel = "openai:gpt-4o"\nsecond = "nobody:m"\n', "nobody"),
        (
            '[judge]\nmode = "probability"\npanel = ["openai:gpt-4o", "anthropic:c"]\n',
            "anthropic:c gives no token prob",
        ),
    ],
)
def test_bad_panels_end_with_one_sentence_before_anything_is_paid(tmp_path: Path, capsys, judge: str, said: str):
    corpus = corpus_of_panel(tmp_path / "mine", judge=judge)
    assert main(["run", str(corpus)]) == 2
    error = capsys.readouterr().err
    assert said in error and "experiment.toml" in error and "Traceback" not in error
    assert not (tmp_path / "results").exists()


def test_the_second_judges_key_is_missed_before_the_first_is_paid(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = corpus_of_panel(tmp_path / "mine", server.base_url, JUDGE)
        for stage in ("ingest", "questions", "retrieve", "answer"):
            assert main([stage, str(corpus)]) == 0
        edit(corpus, JUDGE, JUDGE + 'second = "anthropic:claude-sonnet-4-5"\n')
        planned = rows_of_judge(corpus, capsys)
        assert planned["anthropic:claude-sonnet-4-5"]["calls"] == 8, (
            "of passages too, though the first judge's are counted"
        )
        n_calls = len(server.requests)
        assert main(["judge", str(corpus)]) == 2 and len(server.requests) == n_calls
    assert "ANTHROPIC_API_KEY" in capsys.readouterr().err
