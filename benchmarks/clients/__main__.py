"""`make clients`: other tools in their newest versions write files that we read, and read files that we write.

    python -m benchmarks.clients [TOOL …] [--results FOLDER]

Each tool is a file of `tools/`, whose functions its own Python calls (`inside.py`), in an environment of `.clients`
that `tools.toml` describes. It declares some of

    WRITES = {"function": (format, fields)}    function(folder, rows) writes the rows; `ragassay import --from format`
    READS = {"function": (format, fields)}     `ragassay export --to format`; function(folder) gives what the tool reads
    TURNS = ("function", …)                    those of READS for which the rows are the turns of a conversation
    CHECKS = ("function", …)                   function(folder) gives [what should be, what is]

fields: names of those of a row that are held against each other, with a space between: `query`, `answer`, `contexts`
(texts), `expected`, `reference` (texts), `latency_s`, `input_tokens`, `output_tokens`; READS gives them by agent. Names
of measures of rankings, such as `nDCG@5`, are figures of our results.json. Or the name of a function of the file that
makes of our folder, in our Python, what should be read; of WRITES the tool says it with what FUNCTION_again(folder)
gives; `said` is all that was said, by agent. Of two formats, with a space between, READS has a folder each. Nothing but
this machine is asked, and no model but llama.cpp's. What came of it is in benchmarks/results/clients.md, and from there
in docs/import-export.md; of a tool that is not named the lines stay.
Status 1 where a tool and we do not agree.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.machine import machine
from benchmarks.made_by import ROOT, made_by

HERE = Path(__file__).parent
FILE = ROOT / "benchmarks" / "results" / "clients.md"
PAGE = ROOT / "docs" / "import-export.md"
ENVIRONMENTS = ROOT / ".clients"
COLUMNS = ("tool", "version", "date", "what", "format", "values", "not held, or not used", "result")

NOT_TRIED = (
    "Not tried: llama-cpp-python, of which PyPI has only the source (llama.cpp's server is xllamacpp's here); parquet, "
    "which we neither write nor read; RAGElo before 0.4.0, which does not read our experiment."
)
ROWS = [
    {
        "query": 'What does "sei()" do; and where, if | anywhere?',
        "answer": "It sets a bit,\nand then: nothing.\n\n- one\n- two | three",
        "contexts": ["Call sei(), or\n\ncli().", '{"text": "no object"}', "'quoted', “twice”; ünïcödé 漢字"],
        "expected": 'It\'s "on".',
        "reference": ["Call sei(), or\n\ncli()."],
        "latency_s": 1.5,
        "input_tokens": 7,
        "output_tokens": 2,
    },
    {
        "query": "How many timers?",
        "answer": "=SUM(A1)",
        "contexts": ["[1, 2] are two."],
        "expected": "Three",
        "reference": ["[1, 2] are two."],
        "latency_s": 0.25,
        "input_tokens": 3,
        "output_tokens": 1,
    },
]
"""What each tool writes: texts with quotes, marks, lines, and what looks like JSON or a formula."""


class Outcome(NamedTuple):
    """One file, tried: `values` were held against each other; problem: what is wrong, empty where nothing is."""

    what: str
    format: str
    values: int
    notes: str
    problem: str


class Failed(Exception):
    """A command that did not end with status 0, in words."""


def ran(command: Sequence[str], given: str = "") -> tuple[str, str]:
    """What it prints and what it says. Raises Failed."""
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=ROOT, timeout=900)
    if done.returncode:
        said = [line for line in done.stderr.strip().split("\n") if line.strip()]
        raise Failed(f"{Path(command[0]).name} ended with {done.returncode}: {said[-1] if said else 'nothing said'}")
    return done.stdout, done.stderr


def environment(tool: str, packages: Sequence[str], ours: bool, npm: str | None = None) -> Path:
    """Its Python, with the newest versions installed; npm: the package of Node beside it."""
    place = ENVIRONMENTS / tool
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
    site = next((place / "lib").glob("python*/site-packages"))
    if ours:
        (site / "ours.pth").write_text(f"{next(Path(sys.prefix, 'lib').glob('python*/site-packages'))}\n{ROOT}\n")
    if packages:
        ran([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", *packages])
    if npm:
        ran(["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", str(place), npm])
    return python


def tried(file: Path, python: Path, results: Path, work: Path) -> Iterator[Outcome]:
    """Each of the functions of a tool's file, in turn."""
    case = {"said": said, **runpy.run_path(str(file))}

    def inside(function: str, folder: Path, *given: Any) -> Any:
        words = [str(python), "-P", str(HERE / "inside.py"), str(file), function, str(folder)]
        return json.loads(ran(words, json.dumps(given))[0])

    def outcome(function: str, format: str) -> Outcome:
        folder, notes = work / function, ""
        try:
            if function in case.get("CHECKS", ()):
                folder.mkdir(parents=True)
                wanted, found = inside(function, folder)
            elif function in case.get("WRITES", ()):
                folder.mkdir(parents=True)
                inside(function, folder, ROWS)
                made, fields = work / f"{function}-imported", case["WRITES"][function][1]
                notes = _ragassay("import", "--from", format, str(folder), "--out", str(made))
                wanted = _of(case, fields, made) if fields in case else _sorted(ROWS, fields)
                found = inside(f"{function}_again", folder) if fields in case else _one(rows_of(made, fields))
            else:
                fields = case["READS"][function][1]
                given = conversation(work / f"{function}-given") if function in case.get("TURNS", ()) else results
                for one in (formats := format.split()):
                    out = folder / one if len(formats) > 1 else folder
                    told = _ragassay("export", str(given), "--to", one, "--out", str(out))
                    notes += f"; of {one} {told}" if notes else told
                wanted, found = _of(case, fields, given), inside(function, folder)
        except Failed as error:
            return Outcome(function, format, 0, notes, str(error))
        return Outcome(function, format, _leaves(wanted), notes, difference(wanted, found) or "")

    for function, (format, _) in {**case.get("WRITES", {}), **case.get("READS", {})}.items():
        yield outcome(function, format)
    for function in case.get("CHECKS", ()):
        yield outcome(function, "")


def _ragassay(*words: str) -> str:
    """The notes that the command gives, those on what is left out."""
    said = ran([sys.executable, "-m", "ragassay", *words])[1]
    rest = r"^note: (not held by [^:]*: |\S*/)?"  # of a file its name, without the folder
    return "; ".join(re.sub(rest, "", one) for one in said.split("\n") if one.startswith("note: "))


def _of(case: Mapping[str, Any], fields: str, folder: Path) -> Any:
    if "@" in fields:
        told = json.loads((folder / "results.json").read_text(encoding="utf-8"))["retrieval"]
        return {agent: {name: found[name]["value"] for name in fields.split()} for agent, found in told.items()}
    return case[fields](folder) if fields in case else rows_of(folder, fields)


def conversation(folder: Path) -> Path:
    """Our folder, of a conversation whose turns are ROWS: one agent said all, another answered the last of them."""
    from ragassay.evaluate.from_files.collections.collection import Collection, write_folder
    from ragassay.records import Answer, Query, Turn

    queries: dict[str, Query] = {}
    answers: dict[str, dict[str, Answer]] = {"all": {}, "last": {}}
    history: tuple[Turn, ...] = ()
    for number, row in enumerate(ROWS, 1):
        text, answer, told = str(row["query"]), str(row["answer"]), {"conversation": "c", "turn": number}
        id = f"c-{number}"
        queries[id] = Query(id=id, text=text, metadata=told, history=history)
        answers["all"][id] = Answer(query_id=id, agent="all", answer=answer)
        history += (Turn(role="user", text=text), Turn(role="assistant", text=answer))
    answers["last"][id] = Answer(query_id=id, agent="last", answer="Something else.")
    write_folder(Collection(queries, answers=answers), folder)
    return folder


def said(folder: Path) -> dict[str, list[list[str]]]:
    """Agent to what was said up to its answer to the last turn, each with who said it."""
    from ragassay.evaluate.from_files.collections.collection import read_folder

    made, found = read_folder(folder), dict[str, list[list[str]]]()
    for agent, rows in made.answers.items():
        last = max((made.queries[id] for id in rows), key=lambda one: len(one.history))
        turns = [[turn.role, turn.text] for turn in last.history]
        found[agent] = [*turns, ["user", str(last.text)], ["assistant", str(rows[last.id].answer)]]
    return found


def rows_of(folder: Path, fields: str) -> dict[str, list[dict[str, Any]]]:
    """Agent to its rows, by the queries' texts, of our folder; queries that nobody answered are agent ""'s."""
    from ragassay.evaluate.from_files.collections.collection import read_folder

    made = read_folder(folder)

    def texts(ids: Sequence[str]) -> list[str]:
        return [made.passages[id].text for id in ids if id in made.passages]

    def row(id: str, answer: Any) -> dict[str, Any]:
        query = made.queries[id]
        right = [one for one, label in made.qrels.get(id, {}).items() if label >= 1]
        told = {"query": query.text, "expected": query.metadata.get("expected_response"), "reference": texts(right)}
        if answer is not None:
            told |= {"answer": answer.answer, "contexts": texts(answer.passages), "latency_s": answer.latency_s}
            told |= answer.usage.dump()
        return told

    agents = {agent: [row(id, one) for id, one in rows.items()] for agent, rows in made.answers.items()}
    found = agents or {"": [row(id, None) for id in made.queries]}
    return {agent: _sorted(rows, fields) for agent, rows in found.items()}


def _sorted(rows: Sequence[Mapping[str, Any]], fields: str) -> list[dict[str, Any]]:
    return sorted(({name: row[name] for name in fields.split()} for row in rows), key=lambda row: str(row["query"]))


def _one(agents: Mapping[str, Any]) -> Any:
    return next(iter(agents.values())) if len(agents) == 1 else agents


def difference(wanted: Any, found: Any, where: str = "") -> str | None:
    """The first place at which they are not the same, in words; numbers to nine digits. None where they are."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        if wanted.keys() != found.keys():
            return f"{where}: {sorted(map(str, wanted.keys() ^ found.keys()))[:3]} on one side only"
        pairs = [(f"{where}/{name}", wanted[name], found[name]) for name in wanted]
    elif isinstance(wanted, list | tuple) and isinstance(found, list | tuple):
        if len(wanted) != len(found):
            return f"{where}: {len(wanted)} should be, {len(found)} are"
        pairs = [(f"{where}/{n}", *both) for n, both in enumerate(zip(wanted, found, strict=True), 1)]
    else:
        numbers = all(isinstance(one, int | float) for one in (wanted, found))
        same = math.isclose(wanted, found, rel_tol=1e-9, abs_tol=1e-9) if numbers else wanted == found
        return None if same else f"{where}: {wanted!r:.60} should be, {found!r:.60} is"
    return next((one for place, a, b in pairs if (one := difference(a, b, place))), None)


def _leaves(value: Any) -> int:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else None
    return 1 if inner is None else sum(map(_leaves, inner))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.replace("|", r"\|").split()) for cell in cells) + " |"


def table(text: str) -> dict[str, list[list[str]]]:
    """Tool to its lines of a results page."""
    rows = [re.split(r" \| ", line[2:-2].replace(r"\|", "|")) for line in text.split("\n") if line.startswith("| ")]
    found: dict[str, list[list[str]]] = {}
    for row in rows[1:]:
        found.setdefault(row[0], []).append(row)
    return found


def page(rows: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """The results file."""
    lines = [_line(COLUMNS), "|---" * len(COLUMNS) + "|", *(_line(row) for name in sorted(rows) for row in rows[name])]
    told = f"{machine()}. What a tool wrote or read with its own code, beside what we read or wrote. {NOT_TRIED}\n\n"
    return f"# clients\n\n`python -m benchmarks.clients`\n\n{told}{made_by('clients')}\n\n" + "\n".join(lines) + "\n"


def with_table(text: str, rows: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """The page of the docs with the table between its marks."""
    lines = [_line((name, row[0][1], row_of(row))) for name, row in sorted(rows.items())]
    made = "\n".join(["| tool | version | tried |", "|---|---|---|", *lines])
    return re.sub(
        r"(<!-- clients -->\n).*?(<!-- /clients -->)", lambda m: f"{m[1]}\n{made}\n\n{m[2]}", text, flags=re.S
    )


def row_of(rows: Sequence[Sequence[str]]) -> str:
    """What was tried of a tool, `write csv, json; read json`, each with its result where that is not good."""
    found: dict[str, list[str]] = {}
    for row in rows:
        verb, _, what = row[3].partition(" ")
        found.setdefault(verb, []).append(what + ("" if row[7] == "same" else " (fails)"))
    return "; ".join(f"{verb} {', '.join(what)}".strip() for verb, what in found.items())


def main(options: argparse.Namespace) -> int:
    """Try the tools, and write the page."""
    told = tomllib.loads((HERE / "tools.toml").read_text(encoding="utf-8"))
    if unknown := [name for name in options.tools if name not in told]:
        sys.exit(f"there is no tool '{unknown[0]}'; there are {', '.join(told)}")
    if not (options.results / "results.json").exists():
        ran([sys.executable, "-m", "ragassay", "demo"])
    known = table(FILE.read_text(encoding="utf-8")) if FILE.exists() and options.tools else {}
    work, bad = ENVIRONMENTS / "work", 0
    os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="YES", MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true")
    os.environ.update(HF_HUB_OFFLINE="1", RAGASSAY_PYTHON=sys.executable)
    for tool in options.tools or told:
        shutil.rmtree(work / tool, ignore_errors=True)
        packages, npm = told[tool].get("packages", []), told[tool].get("npm")
        python = environment(tool, packages, told[tool].get("ours", False), npm)
        name = npm.partition("@")[0] if npm else re.split(r"[\[<>=]", packages[0])[0]
        if npm:
            manifest = ENVIRONMENTS / tool / "node_modules" / name / "package.json"
            version = json.loads(manifest.read_text(encoding="utf-8"))["version"]
        else:
            version = ran([str(python), "-c", f"from importlib.metadata import version; print(version('{name}'))"])[0]
        file = HERE / "tools" / f"{told[tool].get('file', tool)}.py"
        called = tool if "file" in told[tool] else name
        rows, today = [], f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
        for one in tried(file, python, options.results, work / tool):
            result = one.problem or "same"
            print(f"{tool} {version.strip()} {one.what}: {result}", flush=True)
            bad += bool(one.problem)
            what = one.what.replace("_", " ")
            rows.append([called, version.strip(), today, what, one.format, str(one.values), one.notes, result])
        known[called] = rows
    FILE.write_text(page(known), encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), known), encoding="utf-8")
    return min(bad, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clients")
    parser.add_argument("tools", nargs="*", metavar="TOOL")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "avr-libc", metavar="FOLDER")
    sys.exit(main(parser.parse_args()))
