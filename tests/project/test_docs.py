"""Docs as tests: what README.md, CONTRIBUTING.md and docs/ say is there is there, and what they show runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records, write_lines
from support.loopback.server import ScriptedServer
from support.pages import PAGES, blocks
from support.places import ROOT
from support.small_corpus import answer_everything, make_corpus

from ragassay.calls.register import input_line
from ragassay.calls.reply_cache import read_replies
from ragassay.cli import build_parser, named
from ragassay.experiment.settings import Experiment
from ragassay.experiment.tables import ModelSettings
from ragassay.experiment.workspace import Place, Workspace
from ragassay.models.requests import Request
from ragassay.prompts import Message
from ragassay.synth.questions.own import read_own_queries

README, BENCHMARKS = PAGES["README.md"], PAGES["benchmarks/README.md"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

BENCHMARK_NAMES = {
    ".".join(path.relative_to(ROOT / "benchmarks").with_suffix("").parts).removesuffix(".__main__")
    for path in (ROOT / "benchmarks").rglob("*.py")
    if path.parent.name != "tools"
} - {"__main__"}
"""What stands behind `python -m benchmarks.`: `speed.elo`, `coverage`, …"""
REPOSITORY = (
    *("ragassay", "synth", "retrieval", "evaluate", "workbench", "cli", "functions"),
    *("tests", "benchmarks", "docs", "corpora", ".ci"),
)
NO_PATHS = ("corpora/mine", "retrieval/llm_judged/", "retrieval/ground_truth/")
"""What begins like a path of the repository and is the user's, or the name of a column."""


def commands(text: str) -> list[list[str]]:
    """The words of every command in the shell blocks, without comments and what is set before it."""
    lines = [shlex.split(line, comments=True) for block in blocks(text, "sh") for line in block.splitlines()]
    bare = [line[next((i for i, word in enumerate(line) if "=" not in word), 0) :] for line in lines]
    return [line for line in bare if line]


def verbs() -> dict[str, Any]:
    return next(action for action in build_parser("0")._actions if action.metavar == "VERB").choices


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_is_documented(verb: str):
    assert re.search(rf"^\| `ragassay {verb}\b", PAGES["docs/command-line.md"], re.MULTILINE)


def test_every_extra_is_documented():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(re.findall(r"`ragassay\[(\w+)\]`", PAGES["docs/command-line.md"])) == set(extras) - {"dev"}


@pytest.mark.parametrize("page", PAGES)
def test_every_verb_and_option_named_in_the_text_exists(page: str):
    known = verbs()
    options = {option for verb in known.values() for action in verb._actions for option in action.option_strings}
    assert set(re.findall(r"(?<=`)--[a-z0-9-]+", PAGES[page])) - {"--version"} <= options
    assert set(re.findall(r"`ragassay ([a-z][a-z-]*)", PAGES[page])) <= {"help", *known}


@pytest.mark.parametrize("page", PAGES)
def test_every_command_shown_is_one_that_is_understood(page: str):
    parser = build_parser("0")
    for command in commands(PAGES[page]):
        if command[0] == "make":
            targets = [word for word in command[1:] if "=" not in word]
            assert all(re.search(rf"^(?:.* )?{target}(?: .*)?:", MAKEFILE, re.MULTILINE) for target in targets)
        elif command[0].endswith("ragassay"):
            assert parser.parse_args(named(command[1:])).handler
        elif "-m" in command:
            assert command[command.index("-m") + 1].split(".")[0] == "benchmarks"


def test_a_newcomer_can_finish_the_readme():
    assert len(README.splitlines()) <= 150


def test_the_two_commands_come_first():
    assert commands(README)[:2] == [["make", "demo"], ["make", "test"]]


def test_every_make_target_and_benchmark_named_in_the_text_exists():
    for text in PAGES.values():
        for target in re.findall(r"`make ([a-z]+)", text):
            assert re.search(rf"^(?:.* )?{target}(?: .*)?:", MAKEFILE, re.MULTILINE), target
        for name in re.findall(r"-m\s+benchmarks\.([\w.]*\w)", text):
            assert name in BENCHMARK_NAMES, name
    assert BENCHMARK_NAMES - {
        "clients.inside",
        "coverage.adaptive_labels",
        "coverage.labelled",
        "judges.faults.broken_json",
        "judges.faults.credentials",
        "judges.faults.encoded",
        "judges.faults.fresh",
        "judges.faults.loops",
        "judges.faults.personal",
        "judges.faults.planting",
        "judges.faults.prose",
        "coverage.ranking_judge",
        "ratings.tournaments",
        "coverage.two_agents",
        "judges.meta_sets",
        "judges.wordings",
        "machine",
        "pictures.png",
        "made_by",
        "pictures.scene",
        "planted.bugs",
        "planted.runs",
        "pictures.shots",
        "question_worth.collection",
        "question_worth.measured",
        "question_worth.retrievers",
        "sections",
        "question_worth.scores",
        "question_worth.shared_words",
        "question_worth.tables",
        "runner",
        "servers.failing",
        "servers.latency",
        "speed.aims",
        "speed.openai_sdk",
        "speed.ragelo_peer",
        "tables.readme_block",
        "tables.screening_picture",
    } == set(re.findall(r"`python -m benchmarks\.([\w.]+)", BENCHMARKS))


def test_each_results_file_is_of_a_benchmark_and_names_its_command():
    folder = ROOT / "benchmarks" / "results"
    for path in folder.rglob("*.md"):
        name = ".".join(path.relative_to(folder).with_suffix("").parts)
        text = path.read_text(encoding="utf-8")
        assert name in BENCHMARK_NAMES and text.startswith(f"# {name}\n"), path
        assert f"-m benchmarks.{name}" in text, path


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_every_link_leads_somewhere(page: str):
    text = CHANGELOG if page == "CHANGELOG.md" else PAGES[page]
    for target, heading in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", text):
        if not target.startswith("https://"):
            path = (ROOT / page).parent / target if target else ROOT / page
            assert path.exists(), target
            assert not heading or heading in anchors(path.read_text(encoding="utf-8")), f"{target}#{heading}"


def anchors(text: str) -> set[str]:
    """What GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_every_path_named_in_the_text_exists(page: str):
    for path, name in paths_in(PAGES[page]):
        assert (ROOT / path).exists(), path
        if name:
            defined = rf"^ *(?:def|class) {name}\b|^{name}\b"
            assert re.search(defined, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), f"{path}:{name}"


def paths_in(text: str) -> list[tuple[str, str]]:
    """(path, name in it or "") of each `folder/file` and `folder/file.py:name` that is a part of the repository."""
    spelt = re.findall(r"`([\w.-]+(?:/[\w.-]+)+)/?(?::(\w+))?`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))
    ours = [(path, name) for path, name in spelt if path.split("/")[0] in REPOSITORY]
    return [(path, name) for path, name in ours if not path.startswith(NO_PATHS)]


def test_what_counts_as_a_path_of_the_repository():
    text = (
        "`evaluate/compare.py`, `evaluate/compare.py:compare`, `docs/`, `corpora/mine/replies`, `results/mine/a.trec`"
    )
    assert paths_in(text) == [("evaluate/compare.py", ""), ("evaluate/compare.py", "compare")]


def test_architecture_names_every_room():
    rooms = {path.parent for folder in REPOSITORY[:7] for path in (ROOT / folder).rglob("*.py")}
    named = {path for path, _ in paths_in(PAGES["docs/architecture.md"])}
    inner = {room.relative_to(ROOT).as_posix() for room in rooms if room.parent != ROOT}
    assert {room for room in inner if not room.startswith("evaluate/judging/")} <= named


@pytest.mark.parametrize("folder", ["results", "corpus"])
def test_every_file_of_a_workspace_is_documented(folder: str):
    workspace = Workspace(Path("corpus"), Path("results"), Experiment.model_construct())
    page = PAGES["docs/results.md" if folder == "results" else "docs/your-own-documents.md"]
    properties = [name for name, value in vars(Workspace).items() if isinstance(value, Place | property)]
    made = [getattr(workspace, name) for name in properties]
    made += [getattr(workspace, name)("AGENT") for name in ("rankings", "searches", "answers", "answer_runs")]
    for path in (path for path in made if path.parts[0] == folder):
        assert re.search(rf"`{path.relative_to(folder)}[/`]", page), path


def test_the_layouts_shown_are_those_of_file_models(tmp_path: Path):
    request, reply = (json.loads(block) for block in blocks(PAGES["docs/models.md"], "json"))
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


def test_the_query_shown_is_one(tmp_path: Path):
    path = tmp_path / "queries.jsonl"
    path.write_text("".join(blocks(PAGES["docs/your-own-questions.md"], "json")))
    (query,) = read_own_queries(path)
    assert query.metadata["expected_response"] == "By calling sei()."


@pytest.mark.slow
def test_the_systems_and_judges_of_ones_own_take_part_as_shown(tmp_path: Path):
    system, judge = PAGES["docs/your-own-system.md"], PAGES["docs/your-own-judge.md"]
    agents = next(block for block in blocks(system, "toml") if "[[agent]]" in block)
    agents += '\n[[agent]]\nname = "rare"\nkind = "python"\ncallable = "rare:agent"\n'
    agents += '\n[[agent]]\nname = "metered"\nkind = "python"\ncallable = "metered:answer"\n'
    agents += '\n[evaluate]\njudges = ["brief:Brief"]\n'
    agents += next(block for block in blocks(judge, "toml") if "[[evaluate.custom]]" in block)
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "corpora" / "mine", "openai:m", server.base_url, more=agents)
        for block in [*blocks(system, "python"), *blocks(judge, "python")]:
            name = re.match(r"# (corpora/mine/\w+\.py)", block)
            assert name, "the first line says where the file goes"
            (tmp_path / name[1]).write_text(block)
        (corpus / "polite.md").write_text(blocks(judge, "markdown")[0])
        for verb in ("ingest", "questions"):
            run_ragassay([verb, "corpora/mine"], tmp_path, server.base_url)
        queries = records(tmp_path / "results/mine/queries.jsonl")
        rows = [{"query_id": query["_id"], "answer": "As yesterday."} for query in queries]
        write_lines(corpus / "yesterday.jsonl", rows)
        run_ragassay(["run", "corpora/mine"], tmp_path, server.base_url)
    results = tmp_path / "results" / "mine"
    for agent, n_passages in (("ours", 1), ("rare", 5), ("metered", 0), ("yesterday", 0)):
        answers = records(results / "answers" / f"{agent}.jsonl")
        assert [answer["query_id"] for answer in answers] == [query["_id"] for query in queries]
        assert all(answer["error"] is None and len(answer["passages"]) == n_passages for answer in answers)
    figures = json.loads((results / "results.json").read_text())
    assert {"ours", "rare", "metered", "yesterday"} < set(figures["agents"])
    usage = {row["model"]: row for row in figures["usage"]}
    assert usage["agent:metered"]["input_tokens"] == 11 * len(queries) and "agent:ours" not in usage
    for agent in figures["agents"]:
        evaluated = figures["evaluations"][agent]
        assert 0 <= evaluated["brief"]["value"] <= 1 and 0 <= evaluated["polite"]["value"] <= 2
        assert evaluated["brief"]["n"] == evaluated["polite"]["n"] == len(queries)
