"""Docs as tests: what README.md and docs/ say is there is there, and what they show runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.loopback.server import ScriptedServer
from support.made_up_results.workspace import make_workspace
from support.places import ROOT
from support.small_corpus import answer_everything, make_corpus, records

from ragassay.calls.reply_cache import read_replies
from ragassay.calls.request_files import input_line
from ragassay.cli import main
from ragassay.cli.parser import build_parser
from ragassay.evaluate.report.page import read_results
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.settings import Experiment, ModelSettings
from ragassay.files import write_records
from ragassay.models.requests import Request
from ragassay.prompts import Message
from ragassay.records import Answer, Game

README = (ROOT / "README.md").read_text(encoding="utf-8")
BENCHMARKS = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
EXPERIMENT_MD = (ROOT / "docs" / "experiment.md").read_text(encoding="utf-8")
OPENSEARCH_MD = (ROOT / "docs" / "opensearch.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PAGES = {"README.md": README, "benchmarks/README.md": BENCHMARKS}
PAGES |= {f"docs/{path.name}": path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}

TABLES = {
    "corpus": "[corpus]",
    "ingest": "[ingest]",
    "questions": "[questions]",
    "retrieval": "[retrieval]",
    "opensearch": "[opensearch]",
    "answer": "[answer]",
    "agent": "[[agent]]",
    "judge": "[judge]",
    "evaluate": "[evaluate]",
    "compare": "[compare]",
    "run": "[run]",
    "models": '[models."provider:name"]',
}
WITHIN = {"[[evaluate.custom]]": "CustomJudge"}
"""Tables inside tables, by their models."""
NOT_MEASURED = {"3.11", "2.0", "95%"}
"""A version, a licence, and the level of the intervals."""


def blocks(text: str, language: str) -> list[str]:
    """The fenced code of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[list[str]]:
    """The words of every command in the shell blocks, without comments and what is set before it."""
    lines = [shlex.split(line, comments=True) for block in blocks(text, "sh") for line in block.splitlines()]
    bare = [line[next((i for i, word in enumerate(line) if "=" not in word), 0) :] for line in lines]
    return [line for line in bare if line]


def verbs() -> dict[str, Any]:
    return next(action for action in build_parser("0")._actions if action.metavar == "VERB").choices


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_is_documented(verb: str):
    found = re.search(rf"ragassay {verb}\b|`{verb}`", README) or re.search(rf"`ragassay {verb}\b", EXPERIMENT_MD)
    assert found, f"neither README.md nor docs/ mention `ragassay {verb}`"


def test_every_option_that_the_readme_names_exists():
    options = {option for verb in verbs().values() for action in verb._actions for option in action.option_strings}
    assert set(re.findall(r"(?<=`)--[a-z-]+", README)) <= options


@pytest.mark.parametrize("page", PAGES)
def test_every_command_shown_is_one_that_is_understood(page: str):
    parser = build_parser("0")
    for command in commands(PAGES[page]):
        if command[0] == "make":
            targets = [word for word in command[1:] if "=" not in word]
            assert all(re.search(rf"^(?:.* )?{target}(?: .*)?:", MAKEFILE, re.MULTILINE) for target in targets)
        elif command[0].endswith("ragassay"):
            assert parser.parse_args(command[1:]).handler
        elif "-m" in command:
            assert command[command.index("-m") + 1].split(".")[0] == "benchmarks"


def test_the_two_commands_come_first():
    assert commands(README)[:2] == [["make", "demo"], ["make", "test"]]


def test_every_make_target_and_benchmark_named_in_the_text_exists():
    for target in re.findall(r"`make ([a-z]+)", README + BENCHMARKS):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    for name in re.findall(r"-m benchmarks\.(\w+)", README + BENCHMARKS):
        assert (ROOT / "benchmarks" / f"{name}.py").is_file(), name
    assert {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {
        "__main__",
        "aims",
        "failing_server",
        "latency_server",
        "ragelo_peer",
        "readme_block",
    } == set(re.findall(r"`python -m benchmarks\.(\w+)", BENCHMARKS))


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str):
    for target in re.findall(r"\]\(([^)#]+)\)", PAGES[page]):
        if not target.startswith("https://"):
            assert ((ROOT / page).parent / target).exists(), target


def value_words(schema: dict[str, Any]) -> str:
    """What a key may hold, as docs/experiment.md words it, from its JSON schema."""
    if "$ref" in schema:
        return "table"
    if "anyOf" in schema and all(part.get("type") == "array" for part in schema["anyOf"]):
        return "list of " + " or ".join(value_words(part["items"]) for part in reversed(schema["anyOf"]))
    if "anyOf" in schema:
        return value_words(next(part for part in schema["anyOf"] if part.get("type") != "null"))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema.get("enum", [schema.get("const")]))
    if schema["type"] == "array":
        return f"list of {value_words(schema['items'])}".replace("of table", "of tables")
    if schema["type"] == "object":
        values = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
        inner = values[0] if isinstance(values[0], dict) else {"$ref": "anything"}
        return f"table of {value_words(inner)}".replace("of table of table", "of tables").removesuffix(" of table")
    if ":" in schema.get("pattern", ""):
        return '`"provider:model"`'
    return {"integer": "whole number", "number": "number", "string": "text", "boolean": "`true` or `false`"}[
        schema["type"]
    ] + range_words(schema)


def range_words(schema: dict[str, Any]) -> str:
    if {"minimum", "maximum"} <= schema.keys():
        return f", {schema['minimum']} to {schema['maximum']}"
    if {"exclusiveMinimum", "exclusiveMaximum"} <= schema.keys():
        return f", between {schema['exclusiveMinimum']} and {schema['exclusiveMaximum']}"
    if {"minimum", "exclusiveMaximum"} <= schema.keys():
        return f", {schema['minimum']} to below {schema['exclusiveMaximum']}"
    if "minimum" in schema:
        return f", at least {schema['minimum']}"
    return f", above {schema['exclusiveMinimum']}" if "exclusiveMinimum" in schema else ""


def expected_rows() -> dict[str, list[str]]:
    """Heading to the first three cells of each row that docs/experiment.md must have, from the models."""
    schema = Experiment.model_json_schema()
    rows: dict[str, list[str]] = {}
    models = dict(WITHIN)
    for table, heading in TABLES.items():
        found = re.search(r"#/\$defs/(\w+)", json.dumps(schema["properties"][table]))
        assert found, table
        models[heading] = found[1]
    for heading, model in models.items():
        definition = schema["$defs"][model]
        rows[heading] = []
        for key, value in definition["properties"].items():
            default = "none" if value.get("default") is None else f"`{json.dumps(value['default'])}`"
            default = "required" if key in definition.get("required", ()) else default
            rows[heading].append(f"| `{key}` | {value_words(value)} | {default} |")
    return rows


def test_no_table_of_the_experiment_is_left_out():
    assert set(TABLES) == set(Experiment.model_fields)
    headings = re.findall(r"^## (.*)$", EXPERIMENT_MD, re.MULTILINE)
    assert [heading for heading in headings if heading not in WITHIN] == list(TABLES.values())
    assert set(WITHIN) <= set(headings)


@pytest.mark.parametrize("heading", [*TABLES.values(), *WITHIN])
def test_every_key_is_documented_with_its_values_and_default(heading: str):
    section = EXPERIMENT_MD.split(f"## {heading}\n")[1].split("\n## ")[0]
    stored = [line for line in section.splitlines() if line.startswith("| `")]
    assert [re.match(r"\| `.*?` \| .*? \| .*? \|", line)[0] for line in stored] == expected_rows()[heading]
    assert all(len(line.split(" | ")[-1]) > 8 for line in stored), "a key without its meaning"


@pytest.fixture
def new_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The experiment.toml that `ragassay new` writes where there is a key."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
    assert main(["new", str(tmp_path / "mine")]) == 0
    return tmp_path / "mine" / "experiment.toml"


def test_the_template_shows_the_defaults(new_experiment: Path):
    shown = load_experiment(new_experiment)
    chosen = {"answer": {"model": shown.answer.model}, "judge": {"model": shown.judge.model}}
    defaults = Experiment.model_validate({**chosen, "questions": {"quota": shown.questions.quota}})
    assert shown == defaults
    written = tomllib.loads(new_experiment.read_text())
    assert set(written) == set(TABLES) - {"agent", "models", "opensearch"}


def test_what_the_template_has_in_comments_is_right_as_well(new_experiment: Path):
    text = re.sub(r"^# (?=\[|\w+ = )", "", new_experiment.read_text(), flags=re.MULTILINE)
    new_experiment.write_text(text)
    experiment = load_experiment(new_experiment)
    assert experiment.agent and experiment.models and experiment.corpus.exclude_pages


@pytest.mark.parametrize("text", blocks(README, "toml"))
def test_every_toml_shown_is_an_experiments(text: str):
    base: dict[str, Any] = {"questions": {"source": "own"}, "answer": {"model": "file:m"}, "judge": {"model": "file:m"}}
    shown = tomllib.loads(text)
    experiment = Experiment.model_validate({**base, **shown})
    assert all(getattr(experiment, table) for table in shown)


def test_the_layouts_shown_are_those_of_file_models(tmp_path: Path):
    request, reply = (json.loads(block) for block in blocks(README, "json"))
    ours = input_line("key", "file:NAME", ModelSettings(), Request((Message("user", "…"),)))
    assert set(request) == set(ours) and set(ours["body"]) <= set(request["body"])
    assert request["url"] == ours["url"] and request["body"]["model"] == ours["body"]["model"]
    path = tmp_path / "replies.jsonl"
    path.write_text(json.dumps(reply) + "\n")
    ((key, stored),) = read_replies(path)
    assert key == request["custom_id"]
    assert json.loads(stored.body["choices"][0]["message"]["content"])["label"] == 2


def run_ragassay(arguments: list[str], folder: Path, base_url: str) -> None:
    environment = {**os.environ, "OPENAI_API_KEY": "sk-test-not-a-key", "OPENAI_BASE_URL": base_url}
    command = [sys.executable, "-m", "ragassay", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_systems_of_ones_own_take_part_as_shown(tmp_path: Path):
    agents = next(block for block in blocks(README, "toml") if "[[agent]]" in block)
    agents += '\n[[agent]]\nname = "rare"\nkind = "python"\ncallable = "rare:agent"\n'
    agents += '\n[evaluate]\njudges = ["brief:Brief"]\n'
    agents += next(block for block in blocks(README, "toml") if "[[evaluate.custom]]" in block)
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "corpora" / "mine", "openai:m", server.base_url, more=agents)
        for block in blocks(README, "python"):
            name = re.match(r"# (corpora/mine/\w+\.py)", block)
            assert name, "the first line says where the file goes"
            (tmp_path / name[1]).write_text(block)
        (corpus / "polite.md").write_text(blocks(README, "markdown")[0])
        for verb in ("ingest", "questions"):
            run_ragassay([verb, "corpora/mine"], tmp_path, server.base_url)
        queries = records(tmp_path / "results/mine/queries.jsonl")
        rows = [{"query_id": query["_id"], "answer": "As yesterday."} for query in queries]
        (corpus / "yesterday.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        run_ragassay(["run", "corpora/mine"], tmp_path, server.base_url)
    results = tmp_path / "results" / "mine"
    for agent, n_passages in (("ours", 1), ("rare", 5), ("yesterday", 0)):
        answers = records(results / "answers" / f"{agent}.jsonl")
        assert [answer["query_id"] for answer in answers] == [query["_id"] for query in queries]
        assert all(answer["error"] is None and len(answer["passages"]) == n_passages for answer in answers)
    figures = json.loads((results / "results.json").read_text())
    assert {"ours", "rare", "yesterday"} < set(figures["agents"])
    for agent in figures["agents"]:
        evaluated = figures["evaluations"][agent]
        assert 0 <= evaluated["brief"]["value"] <= 1 and 0 <= evaluated["polite"]["value"] <= 2
        assert evaluated["brief"]["n"] == evaluated["polite"]["n"] == len(queries)


def figures_in(text: str) -> set[str]:
    """Numbers that look measured: with a decimal point, in thousands, in percent, dollars, seconds or times."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)", " ", text, flags=re.MULTILINE | re.DOTALL)
    numbers = re.findall(r"(?<![\w.@-])[$]?\d[\d,]*(?:\.\d+)?%?(?: s\b| ms\b| times\b| pages/s)?", prose)
    return {number.rstrip(",") for number in numbers if re.search(r"\.|%|\$|,\d| s$| ms$| times$| pages", number)}


def test_every_figure_quoted_stands_in_a_results_file():
    results = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
    known = set[str]().union(*(figures_in(path.read_text(encoding="utf-8").replace("`", "")) for path in results))
    assert figures_in("It took 4 s, 1,234 calls, $2.50 and 31.5% (0.42), 3 times.") == {
        "4 s", "1,234", "$2.50", "31.5%", "0.42", "3 times",
    }  # fmt: skip
    assert figures_in(README) - NOT_MEASURED <= known


@pytest.fixture
def readme_block(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import readme_block

    return readme_block


@pytest.mark.parametrize(("name", "results"), [("demo-table", "demo.md"), ("plan-table", "plan_example.md")])
def test_the_tables_that_scripts_write_are_those_they_kept(name: str, results: str, readme_block: ModuleType):
    shown = readme_block.block(README, name)
    assert "|" in shown and shown in (ROOT / "benchmarks" / "results" / results).read_text(encoding="utf-8")


def test_how_often_the_longer_answer_won(tmp_path: Path, readme_block: ModuleType):
    from benchmarks.demo_table import longer_wins

    lengths = {"one": 9, "two": 4, "three": 4}
    for agent, length in lengths.items():
        answer = Answer(query_id="q", agent=agent, answer="word " * length)
        write_records(tmp_path / "answers" / f"{agent}.jsonl", [answer])
    played = [
        ("one", "two", "a"),
        ("two", "one", "b"),
        ("one", "three", "b"),
        ("two", "three", "a"),
        ("one", "two", "tie"),
    ]
    games = [Game(query_id="q", agent_a=a, agent_b=b, first="a", winner=winner) for a, b, winner in played]
    write_records(tmp_path / "games.jsonl", games)
    assert "Of 3 decided games" in longer_wins(tmp_path) and "longer one won 2." in longer_wins(tmp_path)


def test_the_demo_table_has_every_agent_best_first(tmp_path: Path, readme_block: ModuleType):
    from benchmarks.demo_table import demo_table

    results = read_results(make_workspace(tmp_path, hostile=False).figures)
    table = demo_table(results)
    assert tuple(re.findall(r"^\| `(.*?)`", table, re.MULTILINE)) == results.agents
    assert results.verdict.sentence in table and f"{results.n_queries} queries" in table
    page = tmp_path / "README.md"
    page.write_text("before\n<!-- demo-table -->\nold\n<!-- /demo-table -->\nafter\n")
    readme_block.fill("demo-table", table, page)
    assert readme_block.block(page.read_text(), "demo-table") == table
    assert page.read_text().startswith("before\n") and page.read_text().endswith("\nafter\n")
    with pytest.raises(ValueError, match="not one"):
        readme_block.fill("plan-table", table, page)
