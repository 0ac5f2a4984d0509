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
from types import ModuleType
from typing import Any

import pytest
from support.json_lines import records, write_lines
from support.loopback.server import ScriptedServer
from support.made_up_results.workspace import make_workspace
from support.places import ROOT
from support.small_corpus import answer_everything, make_corpus

from ragassay.calls.reply_cache import read_replies
from ragassay.calls.request_files import input_line
from ragassay.cli import main
from ragassay.cli.parser import build_parser
from ragassay.evaluate.report.page import read_results
from ragassay.evaluate.results import Audit, AuditFinding
from ragassay.experiment.model_settings import ModelSettings
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.models.requests import Request
from ragassay.prompts import Message
from ragassay.records import Figure
from ragassay.synth.questions.own import read_own_queries

FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"]
FILES += sorted((ROOT / "docs").glob("*.md"))
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in FILES}
README, BENCHMARKS = PAGES["README.md"], PAGES["benchmarks/README.md"]
EXPERIMENT_MD = PAGES["docs/experiment.md"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

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
WITHIN = {"[[evaluate.custom]]": "CustomJudgeSettings"}
"""Tables inside tables, by their models."""
BENCHMARK_NAMES = {
    ".".join(path.relative_to(ROOT / "benchmarks").with_suffix("").parts).removesuffix(".__main__")
    for path in (ROOT / "benchmarks").rglob("*.py")
} - {"__main__"}
"""What stands behind `python -m benchmarks.`: `speed.elo`, `coverage`, …"""
NOT_MEASURED = {
    "README.md": {"3.11", "2.0", "95%"},
    "CONTRIBUTING.md": {"3.11"},
    "benchmarks/README.md": {"1,000", "200 ms", "5%"},
    "docs/agent-evaluation.md": {"95%"},
    "docs/agreement.md": {"1.96", "0.001", "5%"},
    "docs/comparisons.md": {"80%", "0.2%", "94%", "0.04", "400 times", "95%", "4.5%", "5%", "90%", "93%", "1%", "0.02"},
    "docs/coverage.md": {"5%", "6%", "80%", "93%", "94%", "95%", "97%", "2.5%"},
    "docs/evaluators.md": {"8,192", "0.2", "95%"},
    "docs/experiment.md": {"0.5 s", "1,024", "100,000", "50,000", "2.19", "30 s", "0.5"},
    "docs/figures.md": {"64%", "95%"},
    "docs/labels.md": {"2505.20178", "0.5", "5%"},
    "docs/opensearch.md": {"2.4", "0.75", "2.19", "1.2"},
    "docs/panels.md": {"2601.21817", "0.5"},
    "docs/question-worth.md": {"95%", "5%"},
    "docs/questions.md": {"0.5", "84%", "0.75", "0.80", "0.85", "0.90"},
    "docs/results.md": {"95%"},
    "docs/scale.md": {"2.60"},
    "docs/screening.md": {"95%", "4.5%", "5%"},
}
"""What looks measured and is not: versions, a licence, levels, limits and bars, a definition's, a paper's number."""
OF_OTHERS = {"docs/evaluators.md": {"0.416", "0.477", "0.513", "0.644", "0.645", "0.866"}, "docs/labels.md": {"4.1"}}
"""Figures that a page gives as another's, printed elsewhere with more digits, and a section of a paper."""
KEPT_NOWHERE = {"docs/questions.md": {"0.06"}}
"""Measured by hand, and in no results file."""
WRITTEN = {"demo-table": "tables/demo.md", "plan-table": "tables/plan_example.md"}
"""What a script writes between comments of this name, and the results it writes it to as well."""
REPOSITORY = ("ragassay", "synth", "retrieval", "evaluate", "cli", "tests", "benchmarks", "docs", "corpora", ".ci")
NO_PATHS = ("corpora/mine", "retrieval/llm_judged/", "retrieval/ground_truth/")
"""What begins like a path of the repository and is the user's, or the name of a column."""


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
    assert re.search(rf"^\| `ragassay {verb}\b", PAGES["docs/command-line.md"], re.MULTILINE)


def test_every_extra_is_documented():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(re.findall(r"`ragassay\[(\w+)\]`", PAGES["docs/command-line.md"])) == set(extras) - {"dev"}


@pytest.mark.parametrize("page", PAGES)
def test_every_verb_and_option_named_in_the_text_exists(page: str):
    known = verbs()
    options = {option for verb in known.values() for action in verb._actions for option in action.option_strings}
    assert set(re.findall(r"(?<=`)--[a-z0-9-]+", PAGES[page])) - {"--version"} <= options
    assert set(re.findall(r"`ragassay ([a-z][a-z-]*)", PAGES[page])) <= set(known)


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


def test_a_newcomer_can_finish_the_readme():
    assert len(README.splitlines()) <= 170


def test_the_two_commands_come_first():
    assert commands(README)[:2] == [["make", "demo"], ["make", "test"]]


def test_every_make_target_and_benchmark_named_in_the_text_exists():
    for text in PAGES.values():
        for target in re.findall(r"`make ([a-z]+)", text):
            assert re.search(rf"^(?:.* )?{target}(?: .*)?:", MAKEFILE, re.MULTILINE), target
        for name in re.findall(r"-m\s+benchmarks\.([\w.]*\w)", text):
            assert name in BENCHMARK_NAMES, name
    assert BENCHMARK_NAMES - {
        "coverage.labelled",
        "coverage.ranking_judge",
        "coverage.two_agents",
        "judges.meta_sets",
        "judges.wordings",
        "machine",
        "question_worth.collection",
        "question_worth.decided",
        "question_worth.measured",
        "question_worth.retrievers",
        "question_worth.scores",
        "question_worth.shared_words",
        "question_worth.tables",
        "question_worth.worth",
        "runner",
        "servers.failing",
        "servers.latency",
        "speed.aims",
        "speed.openai_sdk",
        "speed.ragelo_peer",
        "tables.readme_block",
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
    rooms = {path.parent for folder in REPOSITORY[:5] for path in (ROOT / folder).rglob("*.py")}
    named = {path for path, _ in paths_in(PAGES["docs/architecture.md"])}
    inner = {room.relative_to(ROOT).as_posix() for room in rooms if room.parent != ROOT}
    assert {room for room in inner if not room.startswith("evaluate/judging/")} <= named


@pytest.mark.parametrize("folder", ["results", "corpus"])
def test_every_file_of_a_workspace_is_documented(folder: str):
    workspace = Workspace(Path("corpus"), Path("results"), Experiment.model_construct())
    page = PAGES["docs/results.md" if folder == "results" else "docs/your-own-documents.md"]
    properties = [name for name, value in vars(Workspace).items() if isinstance(value, property)]
    made = [getattr(workspace, name) for name in properties]
    made += [getattr(workspace, name)("AGENT") for name in ("rankings", "answers", "answer_runs")]
    for path in (path for path in made if path.parts[0] == folder):
        assert re.search(rf"`{path.relative_to(folder)}[/`]", page), path


def value_words(schema: dict[str, Any]) -> str:
    """What a key may hold, as docs/experiment.md words it, from its JSON schema."""
    if "$ref" in schema:
        return "table"
    if "anyOf" in schema and all(part.get("type") == "array" for part in schema["anyOf"]):
        return "list of " + " or ".join(value_words(part["items"]) for part in reversed(schema["anyOf"]))
    if "anyOf" in schema and all(part.get("type") != "null" for part in schema["anyOf"]):
        return " or ".join(map(value_words, schema["anyOf"]))
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
    in_reach = shown.retrieval.model_copy(update={"embedding": defaults.retrieval.embedding})
    assert shown.model_copy(update={"retrieval": in_reach}) == defaults
    written = tomllib.loads(new_experiment.read_text())
    assert set(written) == set(TABLES) - {"agent", "models", "opensearch"}


def test_what_the_template_has_in_comments_is_right_as_well(new_experiment: Path):
    text = re.sub(r"^# (?=\[|\w+ = )", "", new_experiment.read_text(), flags=re.MULTILINE)
    new_experiment.write_text(text)
    experiment = load_experiment(new_experiment)
    assert experiment.agent and experiment.models and experiment.corpus.exclude_pages


@pytest.mark.parametrize("text", [block for page in PAGES.values() for block in blocks(page, "toml")])
def test_every_toml_shown_is_an_experiments(text: str):
    shown = tomllib.loads(text)
    model = {"model": next(iter(shown.get("models", {})), "file:m")}
    base: dict[str, Any] = {"questions": {"source": "own"}, "answer": model, "judge": model}
    experiment = Experiment.model_validate({**base, **shown})
    assert all(getattr(experiment, table) for table in shown)


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
    path.write_text("".join(blocks(PAGES["docs/your-own-documents.md"], "json")))
    (query,) = read_own_queries(path)
    assert query.metadata["expected_response"] == "By calling sei()."


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


def figures_in(text: str) -> set[str]:
    """Numbers that look measured: with a decimal point, in thousands, in percent, dollars, seconds or times."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)", " ", text, flags=re.MULTILINE | re.DOTALL)
    numbers = re.findall(r"(?<![\w.@-])[$]?\d[\d,]*(?:\.\d+)?%?(?: s\b| ms\b| times\b| pages/s)?", prose)
    return {number.rstrip(",") for number in numbers if re.search(r"\.|%|\$|,\d| s$| ms$| times$| pages", number)}


def test_what_counts_as_a_figure():
    assert figures_in("It took 4 s, 1,234 calls, $2.50 and 31.5% (0.42), 3 times.") == {
        "4 s", "1,234", "$2.50", "31.5%", "0.42", "3 times",
    }  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_every_figure_stands_in_the_results_that_its_passage_names(page: str):
    """A passage is a paragraph, a list item or a row; one that names no results goes by all that its section names."""
    settled = set[str]().union(*(table.get(page, set()) for table in (NOT_MEASURED, OF_OTHERS, KEPT_NOWHERE)))
    for section in sections(PAGES[page]):
        of_section = results_named(section)
        for passage in passages(section):
            quoted = figures_in(passage) - settled
            named = results_named(passage) or of_section
            known = set[str]().union(*(figures_in(text.replace("`", "")) for text in named.values()))
            strangers = {figure for figure in quoted if not spellings(figure) & known}
            assert not strangers, f"{sorted(strangers)} stand not in {sorted(named) or 'any results'}: {passage[:80]}"


def test_a_figure_of_other_results_is_found_out():
    text = "# A\n\n0.5 ([x](../benchmarks/results/speed/elo.md)).\n\n## B\n\n- 0.7\n- `python -m benchmarks.speed.bm25`"
    first, second = sections(text)
    assert [list(results_named(part)) for part in (first, second)] == [["speed/elo.md"], ["speed/bm25.md"]]
    assert passages(second) == ["## B", "- 0.7", "- `python -m benchmarks.speed.bm25`"]


def sections(text: str) -> list[str]:
    """A page from heading to heading, without its fenced code."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.split(r"\n(?=#+ )", prose)


def passages(section: str) -> list[str]:
    """Its paragraphs, list items and rows of tables."""
    return [part for part in re.split(r"\n\s*\n|\n(?=[|*-] ?)", section) if part.strip()]


def results_named(text: str) -> dict[str, str]:
    """Name and content of the results files that a text links to, or whose command or written table it shows."""
    names = re.findall(r"benchmarks/results/([\w/]+\.md)|\]\(results/([\w/]+\.md)", text)
    found = {name for pair in names for name in pair if name}
    found |= {f"{name.replace('.', '/')}.md" for name in re.findall(r"-m benchmarks\.(\w+(?:\.\w+)*)", text)}
    found |= {results for block, results in WRITTEN.items() if f"<!-- {block} -->" in text}
    paths = {name: ROOT / "benchmarks" / "results" / name for name in sorted(found)}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.exists()}


def spellings(figure: str) -> set[str]:
    """A figure as it is, in percent where the sign stands elsewhere, and as a share: 5.4, 5.4%, 0.054."""
    share = {f"{float(figure[:-1]) / 100:.3f}"} if figure.endswith("%") else set()
    return {figure, f"{figure}%"} | share


@pytest.fixture
def readme_block(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.tables import readme_block

    return readme_block


@pytest.mark.parametrize(
    ("page", "name", "results"),
    [("README.md", "demo-table", "demo.md"), ("docs/cost.md", "plan-table", "plan_example.md")],
)
def test_the_tables_that_scripts_write_are_those_they_kept(
    page: str, name: str, results: str, readme_block: ModuleType
):
    shown = readme_block.block(PAGES[page], name)
    assert "|" in shown and shown in (ROOT / "benchmarks" / "results" / "tables" / results).read_text(encoding="utf-8")


def test_how_often_the_longer_answer_won_is_the_audits(tmp_path: Path):
    from benchmarks.tables.demo import longer_wins

    results = read_results(make_workspace(tmp_path, hostile=False).figures)
    figure = Figure(value=0.75, n=12, n_failed=0, ci_low=0.5, ci_high=0.9)
    finding = AuditFinding(key="longer_wins", figure=figure, sentence="It wins.")
    audit = Audit.model_construct(findings=(finding,))
    told = longer_wins(results.model_copy(update={"audit": audit}))
    assert told.startswith("The longer answer won 75.0% [50.0, 90.0] of 12 pairs")
    assert longer_wins(results.model_copy(update={"audit": None})) == ""


def test_the_demo_table_has_every_agent_best_first(tmp_path: Path, readme_block: ModuleType):
    from benchmarks.tables.demo import demo_table

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
