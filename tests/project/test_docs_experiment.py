"""Docs as tests: docs/experiment.md has every key of experiment.toml, and what is shown of one is right."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.pages import PAGES, blocks

from ragassay.cli import main
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.settings import Experiment

EXPERIMENT_MD = PAGES["docs/experiment.md"]
TABLES = {
    "corpus": "[corpus]",
    "ingest": "[ingest]",
    "questions": "[questions]",
    "retrieval": "[retrieval]",
    "opensearch": "[opensearch]",
    "answer": "[answer]",
    "chunking": "[[chunking]]",
    "retriever": "[[retriever]]",
    "search": "[search]",
    "agent": "[[agent]]",
    "judge": "[judge]",
    "evaluate": "[evaluate]",
    "compare": "[compare]",
    "run": "[run]",
    "models": '[models."provider:name"]',
}
WITHIN = {"[[evaluate.custom]]": "CustomJudgeSettings"}
"""Tables inside tables, by their models."""


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
        return ", ".join(f"`{json.dumps(value)}`" for value in schema.get("enum", [schema.get("const")]))
    if "prefixItems" in schema:
        return {2: "two integers"}[len(schema["prefixItems"])]
    if schema["type"] == "array":
        return f"list of {value_words(schema['items'])}".replace("of table", "of tables")
    if schema["type"] == "object":
        values = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
        inner = values[0] if isinstance(values[0], dict) else {"$ref": "anything"}
        return f"table of {value_words(inner)}".replace("of table of table", "of tables").removesuffix(" of table")
    if ":" in schema.get("pattern", ""):
        return '`"provider:model"`'
    return {"integer": "integer", "number": "number", "string": "text", "boolean": "boolean"}[
        schema["type"]
    ] + range_words(schema)


def range_words(schema: dict[str, Any]) -> str:
    if {"minimum", "maximum"} <= schema.keys():
        to = " to " if schema["minimum"] < 0 else "–"
        return f" {schema['minimum']}{to}{schema['maximum']}"
    if {"exclusiveMinimum", "exclusiveMaximum"} <= schema.keys():
        return f" between {schema['exclusiveMinimum']} and {schema['exclusiveMaximum']}"
    if {"minimum", "exclusiveMaximum"} <= schema.keys():
        return f" {schema['minimum']} to below {schema['exclusiveMaximum']}"
    if "minimum" in schema:
        return f" ≥ {schema['minimum']}"
    return f" > {schema['exclusiveMinimum']}" if "exclusiveMinimum" in schema else ""


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
    assert set(written) == set(TABLES) - {"chunking", "retriever", "search", "agent", "models", "opensearch"}


def test_what_the_template_has_in_comments_is_right_as_well(new_experiment: Path):
    text = re.sub(r"^# (?=\[|\w+ = )", "", new_experiment.read_text(), flags=re.MULTILINE)
    new_experiment.write_text(text)
    experiment = load_experiment(new_experiment)
    assert experiment.table_agents() and experiment.own_agents() and experiment.chunkings
    assert experiment.models and experiment.corpus.exclude_pages


@pytest.mark.parametrize("text", [block for page in PAGES.values() for block in blocks(page, "toml")])
def test_every_toml_shown_is_an_experiments(text: str):
    shown = tomllib.loads(text)
    model = {"model": next(iter(shown.get("models", {})), "file:m")}
    base: dict[str, Any] = {"questions": {"source": "own"}, "answer": model, "judge": model}
    experiment = Experiment.model_validate({**base, **shown})
    assert all(getattr(experiment, table) for table in shown)
