"""The evaluators of form: values by hand, conditions, schemas, files, and hostile answers."""

from __future__ import annotations

import json
import time
import zlib

import pytest
from support.made_cases import HOSTILE, case_of, evaluator_of, judged, labels
from support.often import CI
from support.quiet_texts import of_many_scripts, of_the_demo

from ragassay.errors import InputError
from ragassay.evaluate.judging.judges.eval_studio.form import schema as schema_check

SENTENCE = "The watchdog resets the board. "


def test_looping_by_hand():
    text = SENTENCE * 4 + "It then waits."
    found = labels(evaluator_of("looping"), case_of(text))
    assert found["unique_sentences"] == 2 / 5
    assert found["longest_repeated_substring"] == 2 * 62 / len(text)
    assert found["compression_ratio"] == len(zlib.compress(text.encode(), 9)) / len(text.encode())
    lower = labels(evaluator_of("looping"), case_of("it waits for the flag. " * 20))
    assert lower["unique_sentences"] == 1 / 20, "as a splitter that knows no case counts them"


def test_no_false_alarm_on_the_demos_answers_or_other_scripts_and_their_loops_are_found():
    looping, texts = evaluator_of("looping"), [*of_the_demo()[:: 1 if CI else 5], *of_many_scripts()]
    thresholds = {one.name: one for one in looping.criteria}
    for text in texts:
        good, loop = labels(looping, case_of(text)), labels(looping, case_of(f"{text} " * 10))
        for name in ("longest_repeated_substring", "compression_ratio"):
            lower, limit = thresholds[name].lower_is_better, thresholds[name].threshold
            assert good[name] <= limit if lower else good[name] >= limit, (name, text[:60])
            assert loop[name] > limit if lower else loop[name] < limit, (name, text[:60])


@pytest.mark.parametrize(
    ("condition", "label"),
    [
        ('"sei()"', 1),
        ('"SEI()"', 0),
        ("regexp{(?i)SEI\\(\\)}", 1),
        ('NOT "cli()"', 1),
        ('NOT NOT "cli()"', 0),
        ('"sei()" AND "cli()" OR "macro"', 1),
        ('"macro" OR "sei()" AND "cli()"', 1),
        ('("macro" OR "sei()") AND "cli()"', 0),
        ("regexp{a{1,2}c}", 1),
        ("'a \\'macro\\''", 0),
        ("regexp{^By} AND regexp{macro\\.$}", 1),
    ],
)
def test_conditions(condition, label):
    case = case_of("By sei(). It is a macro.", {"conditions": condition}, ["By sei(). It is a macro."])
    expected = {"text_matching": label, "text_matching_context": label}
    assert labels(evaluator_of("text_matching"), case) == expected


@pytest.mark.parametrize(
    "condition",
    [
        "",
        '"a',
        '"a" "b"',
        "AND",
        '("a"',
        '"a")',
        "regexp{",
        "regexp{(}",
        "regexp{(a)\\1}",
        "sei",
        '""',
        "(" * 9000,
        7,
        {},
    ],
)
def test_a_bad_condition_is_one_sentence_that_names_the_query(condition):
    with pytest.raises(InputError, match=r"^query 'q1': metadata\.conditions"):
        judged(evaluator_of("text_matching"), case_of("x", {"conditions": condition}))


def test_a_pattern_cannot_hang():
    begun = time.process_time()
    case = case_of("a" * 100_000 + "!", {"conditions": "regexp{^(a+)+$}"}, ["x"])
    assert labels(evaluator_of("text_matching"), case) == {"text_matching": 0, "text_matching_context": 0}
    assert time.process_time() - begun < 5


SCHEMA = {"type": "object", "required": ["pin"], "properties": {"pin": {"type": "integer"}}}
ANSWER_JSON = ["json_answer_parses", "json_answer_fits_schema"]


@pytest.mark.parametrize(
    ("answer", "schema", "expected"),
    [
        ('{"pin": 3}', SCHEMA, [1, 1]),
        ('{"pin": "3"}', SCHEMA, [1, 0]),
        ("pin 3", SCHEMA, [0, 0]),
        ("NaN", None, [0, 0]),
        ("7", None, [1, 1]),
        ("[1, 1.0]", {"uniqueItems": True}, [1, 0]),
        ("[1, true]", {"uniqueItems": True}, [1, 1]),
        ('{"b": 1}', {"patternProperties": {"^a": {}}, "additionalProperties": False}, [1, 0]),
        ('{"ab": 1}', {"patternProperties": {"^a": {}}, "additionalProperties": False}, [1, 1]),
        ('"x"', {"format": "date"}, [1, 1]),
        (json.dumps("a" * 50_000 + "!"), {"pattern": "^(a+)+$"}, [1, 0]),
        ("[" * 5_000 + "]" * 5_000, None, [None, None]),
        ("9" * 50_000, None, [None, None]),
        ("1", {"$ref": "http://127.0.0.1:9/schema.json"}, [None, None]),
        ("1", {"allOf": [{"$ref": "#"}]}, [None, None]),
    ],
)
def test_json_schema(answer, schema, expected):
    metadata = {} if schema is None else {"json_schema": schema}
    found = labels(evaluator_of("json_schema"), case_of(answer, metadata, ["no JSON", '{"pin": 3}']))
    assert [found[name] for name in ANSWER_JSON] == expected
    assert found["json_context_parses"] in (1, None)


def test_a_value_that_the_checker_trips_over_is_an_error_of_its_own():
    rows = judged(evaluator_of("json_schema"), case_of("1" + "0" * 400, {"json_schema": {"multipleOf": 0.1}}))
    (said,) = {row.error for row in rows if row.criterion in ANSWER_JSON}
    assert (said or "").startswith("the value cannot be held against the schema (OverflowError: ")


def test_a_schema_that_doubles_at_each_reference_is_an_error(monkeypatch):
    monkeypatch.setattr(schema_check, "MOST_REFERENCES", 1_000)
    parts = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)} | {"d40": {}}
    schema = {"$ref": "#/$defs/d0", "$defs": parts}
    rows = judged(evaluator_of("json_schema"), case_of("1", {"json_schema": schema}))
    assert "references" in (rows[0].error or "")


def test_references_are_counted_anew_for_each_value(monkeypatch):
    monkeypatch.setattr(schema_check, "MOST_REFERENCES", 10)
    schema = {"items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}
    for answer, fits in (("[1, 2, 3, 4, 5, 6]", 1), ('[1, 2, 3, 4, 5, "6"]', 0), ("[6, 5, 4, 3, 2, 1]", 1)):
        found = labels(evaluator_of("json_schema"), case_of(answer, {"json_schema": schema}))
        assert found["json_answer_fits_schema"] == fits


def test_the_schema_of_a_file_and_a_fence(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    case = case_of('```json\n{"pin": 3}\n```')
    assert labels(evaluator_of("json_schema", tmp_path, schema="s.json"), case)["json_answer_parses"] == 0
    found = labels(evaluator_of("json_schema", tmp_path, schema="s.json", fenced=True), case)
    in_context = dict.fromkeys(("json_context_parses", "json_context_fits_schema"))
    assert found == dict.fromkeys(ANSWER_JSON, 1) | in_context


@pytest.mark.parametrize(
    "schema", ["x", 7, {"type": "nonsense"}, {"pattern": "(?=a)"}, {"$schema": 5}, {"$schema": []}]
)
def test_a_bad_schema_is_one_sentence_that_names_the_query(schema):
    with pytest.raises(InputError, match=r"^query 'q1': metadata\.json_schema"):
        judged(evaluator_of("json_schema"), case_of("1", {"json_schema": schema}))


def test_agent_sanity_by_hand(tmp_path):
    folder = tmp_path / "files" / "ours" / "q1"
    folder.mkdir(parents=True)
    for name, text in {"a.json": '{"a": 1}', "b.json": "{", "c.txt": " \n", "d.md": "x"}.items():
        (folder / name).write_text(text)
    (tmp_path / "files" / "secret.txt").write_text("x")
    expected = ["a.json", "c.txt", "gone.pdf", "../../secret.txt"]
    sanity = evaluator_of("agent_sanity", tmp_path, folder="files")
    found = labels(sanity, case_of("Done.", {"expected_files": expected}))
    assert found == {"agent_sanity_files": 2 / 4, "agent_sanity_json": 1 / 2, "agent_sanity_pages": 3 / 4}
    assert labels(sanity, case_of("[a](a.json), [b](no.pdf)"))["agent_sanity_files"] == 1 / 2


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("name", ["looping", "loops_found", "json_schema", "text_matching", "agent_sanity"])
def test_hostile_answers(name, text, tmp_path):
    metadata = {
        "conditions": '"a" AND regexp{(a+)+$}',
        "json_schema": {"type": "array", "uniqueItems": True, "items": {"pattern": "(a+)+$"}},
        "expected_files": [text[:300], "a.pdf"],
    }
    options = {"folder": "."} if name == "agent_sanity" else {}
    begun = time.process_time()
    rows = judged(evaluator_of(name, tmp_path, **options), case_of(text, metadata, [text, text]))
    assert all((row.label is None) != (row.error is None) for row in rows)
    assert all(row.error is None or row.error.startswith(("no value", "the JSON ")) for row in rows)
    assert time.process_time() - begun < 10, "it hangs"
