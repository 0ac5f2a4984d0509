"""promptfoo, by Node: its results as JSON and CSV, and our tests run by it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PROVIDER = """const rows = require('./rows.json');
module.exports = class {
  id() { return 'rag'; }
  async callApi(prompt, context) {
    const row = rows.find((one) => one.query === context.vars.question) || {answer: 'So.', contexts: []};
    const usage = {prompt: row.input_tokens, completion: row.output_tokens};
    return {output: row.answer, tokenUsage: usage, metadata: {contexts: row.contexts}};
  }
};
"""


def _run(folder: Path, rows: list[dict[str, Any]], tests: Any, out: Path) -> None:
    place = folder.parent / f"{folder.name}-config"
    place.mkdir()
    (place / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    (place / "rag.js").write_text(PROVIDER, encoding="utf-8")
    told = {"prompts": ["{{question}}"], "providers": ["file://rag.js"], "tests": tests}
    (place / "config.json").write_text(json.dumps(told), encoding="utf-8")
    program = Path(sys.executable).parents[1] / "node_modules" / ".bin" / "promptfoo"
    more = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": str(place)}
    more |= {"PROMPTFOO_DISABLE_DEBUG_LOG": "1", "PROMPTFOO_DISABLE_ERROR_LOG": "1"}  # these fail at times
    command = [program, "eval", "-c", place / "config.json", "--no-cache", "--output", out]
    subprocess.run(list(map(str, command)), env={**os.environ, **more}, check=True)


def _tests(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"vars": {"question": row["query"], "reference": row["expected"]}} for row in rows]


def write_json(folder: Path, rows: list[dict[str, Any]]) -> None:
    _run(folder, rows, _tests(rows), folder / "results.json")


def write_csv(folder: Path, rows: list[dict[str, Any]]) -> None:
    _run(folder, rows, _tests(rows), folder / "results.csv")


def read_tests(folder: Path) -> list[list[str]]:
    _run(folder, [], f"file://{folder / 'tests.json'}", folder / "results.json")
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))["results"]["results"]
    return sorted([one["vars"]["question"], one["vars"].get("expected_response", "")] for one in found)


def queries(folder: Path) -> list[list[str]]:
    from ragassay.evaluate.from_files.collections.collection import read_folder

    found = read_folder(folder).queries.values()
    return sorted([one.text, str(one.metadata.get("expected_response") or "")] for one in found)


WRITES = {
    "write_json": ("promptfoo", "query answer contexts expected input_tokens output_tokens"),
    "write_csv": ("promptfoo-csv", "query answer expected"),
}
READS = {"read_tests": ("promptfoo", "queries")}
