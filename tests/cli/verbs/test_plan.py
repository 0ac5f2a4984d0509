"""The plan: near what the recorded run took, exact where replies are at hand, and nothing asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.finished_run.run import Run
from support.loopback.server import ScriptedServer
from support.places import ROOT
from support.small_corpus import answer_everything, contents, edit, make_corpus

from benchmarks.tables.plan_accuracy import in_sample, planned_and_recorded
from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.evaluate.make_judgments import of_evaluators, of_judging
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.stage import Load
from ragassay.experiment.workspace import Workspace
from ragassay.files import write_records
from ragassay.records import Passage, Query

pytestmark = pytest.mark.xdist_group("demo")

PAIRS = ROOT / "benchmarks" / "replies" / "avr-libc-pairs"
"""The run of which the plan's shares and reply lengths were made; its manual is read as the demo's is."""


def test_the_plan_is_within_15_percent_of_what_the_recorded_run_took(demo: Run):
    held = planned_and_recorded(PAIRS, demo.results)
    assert in_sample(PAIRS) and not in_sample(demo.corpus), "of another run it need not be so near"
    assert set(held.planned) == set(held.recorded) == {"questions", "retrieve", "answer", "judge"}
    for stage, took in held.recorded.items():
        assert held.planned[stage] == pytest.approx(took, rel=0.15), stage


def test_a_run_with_other_replies_is_out_of_sample_and_one_without_asks_nobody(tmp_path: Path):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o", server.base_url)
        with pytest.raises(InputError, match="replies were not recorded"):
            planned_and_recorded(corpus)
        assert not in_sample(corpus) and not server.requests


def rows(capsys: pytest.CaptureFixture[str]) -> dict[str, list[dict[str, int]]]:
    found: dict[str, list[dict[str, int]]] = {}
    for row in json.loads(capsys.readouterr().out):
        found.setdefault(row["stage"], []).append(row)
    return found


def test_it_asks_nobody_changes_nothing_and_after_the_run_all_is_in_the_cache(tmp_path: Path, capsys):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o", server.base_url)
        assert main(["plan", str(corpus), "--json"]) == 0
        before = rows(capsys)
        assert not server.requests
        written, graded = before["questions"]
        assert written["from_cache"] == graded["from_cache"] == 0 and not written["estimated"] and graded["estimated"]
        assert all(row["estimated"] for row in before["judge"])

        assert main(["run", str(corpus)]) == 0
        n_calls = len(server.requests)
        files = contents(tmp_path / "results")
        capsys.readouterr()
        assert main(["plan", str(corpus), "--json"]) == 0
        after = rows(capsys)
        assert len(server.requests) == n_calls and contents(tmp_path / "results") == files
    every = [row for some in after.values() for row in some]
    assert all(row["calls"] == row["from_cache"] and row["cost_usd"] == 0 for row in every)
    assert sum(row["calls"] for row in every) == n_calls


def loads_of(workspace: Workspace) -> dict[str, Load]:
    return {load.label: load for load in of_judging(workspace)}


def test_each_judge_of_answers_is_foreseen_with_the_passages_that_it_shows(tmp_path: Path):
    corpus = make_corpus(tmp_path / "mine", "openai:m")
    text, found = (corpus / "experiment.toml").read_text(), {}
    settings = {
        "paper": "",
        "strict": 'prompts = "ragassay"\n',
        "four": 'criteria = ["relevance", "accuracy", "completeness", "precision"]\n',
        "bare": "games_passages = false\n",
        "wide": "relevant_from = 1\n",
        "tokens": 'mode = "probability"\n',
        "batch": "relevance_batch = 2\n",
        "lists": 'games = "listwise"\npresentations = 3\n',
    }
    for name, more in settings.items():
        (corpus / "experiment.toml").write_text(text.replace("[judge]\n", f"[judge]\n{more}"))
        experiment = load_experiment(corpus / "experiment.toml")
        workspace = Workspace(corpus, tmp_path / "results", experiment)
        write_records(workspace.passages, [Passage(_id="p", text="word " * 300)])
        write_records(workspace.queries, [Query(_id=f"q{n}", text="?") for n in range(4)])
        found[name] = loads_of(workspace)
    assert list(found["paper"]) == ["relevance", "pointwise", "pointwise-answer_correctness", "games"]
    assert found["paper"]["pointwise"].calls == found["paper"]["pointwise-answer_correctness"].calls == 8
    assert list(found["four"]) == ["relevance", "pointwise", "games"]
    criteria = ["relevance", "accuracy", "completeness", "precision", "answer_correctness", "refusal"]
    assert list(found["tokens"]) == ["relevance", *(f"pointwise-{name}" for name in criteria), "games"]
    assert found["strict"]["pointwise"].input_tokens > found["paper"]["pointwise"].input_tokens, "3 passages, not 1.4"
    assert list(found["batch"]) == ["relevance-batch", "pointwise", "pointwise-answer_correctness", "games"]
    batches, one = found["batch"]["relevance-batch"], found["paper"]["relevance"]
    assert (batches.calls, one.calls) == (4 * 2, round(4 * 3 * 1.3)), "3.9 passages of a query by two, or one by one"
    assert batches.output_tokens == 8 * 2 * 45 and batches.input_tokens < one.input_tokens and batches.kind == one.kind
    lists = found["lists"]["listwise"]
    assert list(found["lists"]) == ["relevance", "pointwise", "pointwise-answer_correctness", "listwise"]
    assert (lists.calls, lists.output_tokens) == (4 * 3, 4 * 3 * (60 + 2 * 8)), "queries times presentations"
    assert found["bare"]["games"].input_tokens < found["paper"]["games"].input_tokens - 300
    for label in ("pointwise", "pointwise-answer_correctness", "games"):
        assert found["wide"][label].input_tokens > 1.3 * found["paper"][label].input_tokens


def test_lists_of_many_agents_and_of_later_ones_are_foreseen(tmp_path: Path):
    """Of twelve agents three blocks; of eight and four later ones a list of each, the second with four anchors."""
    own = "".join(f'[[agent]]\nname = "own-{n:02d}"\nkind = "file"\npath = "x"\n' for n in range(10))
    corpus = make_corpus(tmp_path / "mine", "openai:m", more=own)
    text, calls = (corpus / "experiment.toml").read_text(), []
    for games, first in (("listwise", None), ("listwise-adaptive", None), ("listwise", 8), ("listwise", 11)):
        (corpus / "experiment.toml").write_text(text.replace("[judge]\n", f'[judge]\ngames = "{games}"\n'))
        workspace = Workspace(corpus, tmp_path / "results", load_experiment(corpus / "experiment.toml"))
        write_records(workspace.passages, [Passage(_id="p", text="word " * 300)])
        write_records(workspace.queries, [Query(_id=f"q{n}", text="?") for n in range(4)])
        if first:
            workspace.waves.write_text(json.dumps([workspace.experiment.agent_names()[:first]]))
        calls.append(loads_of(workspace)["listwise"].calls)
    assert calls == [4 * 2 * 3, 2 * 2 * 3, 4 * 2 * 2, 4 * 2 * (3 + 1)]


@pytest.mark.parametrize("prompts", ["paper", "ragassay"])
def test_what_is_asked_after_relevance_is_foreseen_where_relevance_was_counted(tmp_path: Path, capsys, prompts: str):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o", server.base_url)
        edit(corpus, "[judge]\n", f'[judge]\nprompts = "{prompts}"\n')
        for stage in ("ingest", "questions", "retrieve", "answer"):
            assert main([stage, str(corpus)]) == 0
        capsys.readouterr()
        assert main(["plan", str(corpus), "--json"]) == 0
        planned = [row for row in json.loads(capsys.readouterr().out) if row["stage"] == "judge"]
    assert [row["estimated"] for row in planned] == [False, True]
    assert planned[1]["calls"] == {"paper": 8 + 8 + 7, "ragassay": 8 + 7}[prompts], "the strict grades were counted"


@pytest.mark.parametrize(("settings", "calls"), [("", 0), ('[evaluate.settings.language_mismatch]\nby = "judge"\n', 8)])
def test_what_an_evaluator_asks_by_its_settings_is_in_the_plan(tmp_path: Path, capsys, settings: str, calls: int):
    """One call for each of two agents' answers to four queries, or none."""
    evaluate = f'[evaluate]\njudges = ["language_mismatch"]\n{settings}'
    corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o", more=evaluate)
    assert main(["plan", str(corpus), "--json"]) == 0
    planned = rows(capsys)
    assert planned["evaluate"][0]["calls"] == calls if calls else "evaluate" not in planned
    assert main(["plan", str(corpus)]) == 0
    said = f"Calls in all by evaluator: language_mismatch ~{calls}." if calls else "No evaluator asks the judge."
    assert said in capsys.readouterr().out


def test_an_evaluator_that_reads_no_context_is_planned_without_passages(tmp_path: Path):
    asked = {}
    for name in ("no_answer", "context_sufficiency"):
        corpus = make_corpus(tmp_path / name, "openai:gpt-4o", more=f'[evaluate]\njudges = ["{name}"]\n')
        workspace = Workspace(corpus, tmp_path / "results", load_experiment(corpus / "experiment.toml"))
        write_records(workspace.passages, [Passage(_id="p", text="word " * 300)])
        write_records(workspace.queries, [Query(_id=f"q{n}", text="?") for n in range(4)])
        (load,) = of_evaluators(workspace)
        asked[name] = load.input_tokens / load.calls
    assert asked["context_sufficiency"] - asked["no_answer"] > 3 * 250, "three passages are shown"


def test_hosted_models_are_priced(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o")
    assert main(["plan", str(corpus), "--json"]) == 0
    row = rows(capsys)["questions"][0]
    assert row["cost_usd"] == pytest.approx(row["input_tokens"] * 2.5e-6 + row["output_tokens"] * 10e-6), (
        "OpenAI's list"
    )


def test_a_limit_that_the_run_would_reach_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o")
    assert main(["plan", str(corpus), "--max-cost", "0.01"]) == 0
    assert "the limit is $0.01, where a run stops before its end; max_cost_usd or" in capsys.readouterr().out
    assert main(["plan", str(corpus), "--max-cost", "1000"]) == 0
    assert "the limit is $1000.00\n" in capsys.readouterr().out


def test_what_judging_costs_each_way_is_what_the_plan_says_with_that_setting(tmp_path: Path, capsys):
    corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o")
    assert main(["plan", str(corpus)]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Judging in all")]
    text = (corpus / "experiment.toml").read_text()
    for setting in ("", 'games = "listwise"\n', 'games = "listwise"\nrelevance_batch = 10\n'):
        (corpus / "experiment.toml").write_text(text.replace("[judge]\n", f"[judge]\n{setting}"))
        assert main(["plan", str(corpus), "--json"]) == 0
        (row,) = rows(capsys)["judge"]
        name = setting.strip().replace("\n", ", ") or "pairs"
        assert f"{name} ~{row['calls']:,} calls, ${row['cost_usd']:.2f}" in line


def test_a_way_of_judging_that_a_prompt_of_the_users_does_not_fit_is_not_offered(tmp_path: Path, capsys):
    corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o")
    (corpus / "own.md").write_text("Compare.\n\n## User\n{{ query.text }} {{ answer_a }} {{ answer_b }}\n")
    edit(corpus, "[judge]\n", '[judge]\ngames_prompt = "own.md"\n')
    assert main(["plan", str(corpus)]) == 0
    assert "Judging in all" not in capsys.readouterr().out


def test_a_price_that_is_not_known_is_unknown_and_no_name_is_cut(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    long = "openai:a-model-whose-name-is-longer-than-any-column-of-a-terminal-is-wide"
    make_corpus(tmp_path / "mine", long)
    assert main(["plan", "mine"]) == 0
    out = capsys.readouterr().out
    table = out.partition("To pay")[0]
    assert table.count(long) >= 4 and "…" not in table and "$0.00" not in out
    assert f"To pay for what is not in the cache: unknown for {long} (prices_usd_per_million says it)" in out
    assert "Time for these calls: about" in out and "an estimate: up to 8 calls at once" in out


def test_the_time_of_calls_that_were_made_before_is_what_they_took(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        assert main(["ingest", "mine"]) == 0 and main(["questions", "mine"]) == 0
        received = tmp_path / "results/mine/replies/received-questions.jsonl"
        replies = [json.loads(line) | {"latency_s": 400.0} for line in received.read_text().splitlines()]
        received.write_text("".join(json.dumps(one) + "\n" for one in replies))
        capsys.readouterr()
        assert main(["plan", str(corpus), "--json"]) == 0
        planned = json.loads(capsys.readouterr().out)
    assert planned[0]["time_s"] == 0.0 and planned[0]["from_cache"] == planned[0]["calls"]
    for row in planned[1:]:
        assert row["time_s"] == pytest.approx(row["calls"] * 400 / min(8, row["calls"]))


def test_a_function_that_is_handed_the_last_turn_alone_is_named(tmp_path: Path, capsys):
    folder = tmp_path / "mine"
    tables = "".join(
        f'\n[[agent]]\nname = "{name}"\nkind = "python"\ncallable = "ours:{name}"\n' for name in ("a", "b")
    )
    make_corpus(folder, "openai:m", more=tables)
    edit(folder, 'style = "passage"', 'source = "own"')
    edit(folder, "few_shot = 1\n", "")
    (folder / "ours.py").write_text("def a(q):\n    return q\n\ndef b(q, history):\n    return q\n")
    turn = {"_id": "t", "text": "And why?", "history": [{"role": "user", "text": "How?"}]}
    (folder / "queries.jsonl").write_text(json.dumps(turn) + "\n")
    main(["plan", str(folder)])
    said = " ".join(capsys.readouterr().out.split())
    assert "1 query is a turn: a takes no parameter `history`, and so the last turn alone" in said
    (folder / "ours.py").write_text("def a(q:\n")
    main(["plan", str(folder)])
    assert "ours.py is not Python" in "".join(capsys.readouterr())
