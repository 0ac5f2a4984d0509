"""`ragassay perturb`: what is changed and what is not, the same each time, linked; paraphrases from a server."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.item_replies import script
from support.json_lines import write_lines
from support.loopback.behaviours import reply, status
from support.loopback.server import ScriptedServer

from ragassay.cli import main
from ragassay.synth.perturbing import perturb as by_rule
from ragassay.synth.perturbing.perturb import replaced

QUERIES = [
    {"_id": "q1", "text": "Which header declares the busy wait?", "metadata": {"expected_response": "util/delay.h"}},
    {"_id": "q2", "text": "如何启用中断？"},
    {"_id": "q3", "text": "Как включить прерывания?"},
    {"_id": "q4", "text": "?!"},
]
words = st.text(st.characters(codec="utf-8"), max_size=60)


def perturbed(folder, *more: str, queries=QUERIES) -> tuple[int, list[dict]]:
    write_lines(folder / "queries.jsonl", queries)
    out = folder / "perturbed.jsonl"
    code = main(["perturb", str(folder / "queries.jsonl"), "--out", str(out), *more])
    return code, [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def test_each_original_is_followed_by_what_is_made_of_it(tmp_path, capsys) -> None:
    code, rows = perturbed(tmp_path)
    assert code == 0
    ids = [row["_id"] for row in rows]
    made = "q1 q1.typos q1.word-order q1.case q2 q2.typos q3 q3.typos q3.word-order q3.case q4"
    assert " ".join(ids) == made
    assert rows[1]["metadata"] == {
        "expected_response": "util/delay.h",
        "perturbed_from": "q1",
        "perturbation": "typos",
    }
    assert "metadata" not in QUERIES[1] and rows[4]["text"] == QUERIES[1]["text"]
    assert "case: 2 of 4 questions hold nothing to change" in capsys.readouterr().err
    assert perturbed(tmp_path)[1] == rows
    assert [row["text"] for row in perturbed(tmp_path, "--seed", "8")[1]] != [row["text"] for row in rows]


@given(words, st.integers(0, 1000))
def test_word_order_and_case_keep_all_letters_and_typos_their_number(text, seed) -> None:
    moved, cased = by_rule.word_order(text, Random(seed)), by_rule.case(text, Random(seed))
    typed = by_rule.typos(text, Random(seed))
    assert moved is None or (moved != text and Counter(moved) == Counter(text))
    assert cased is None or (cased != text and cased in (text.lower(), text.upper(), text.title()))
    assert typed is None or (typed != text and len(typed) == len(text))
    again = by_rule.typos(text, Random(seed))
    assert again == typed


@pytest.mark.parametrize("text", ["one two six", "", "a1b2", "😀😀😀😀😀"])
def test_words_under_four_letters_get_no_typing_error(text) -> None:
    assert by_rule.typos(text, Random(1)) is None


def test_a_typing_error_is_a_neighbour_on_the_scripts_own_keyboard_or_a_transposition() -> None:
    for seed in range(200):
        for word, rows in (
            ("header", "qwertyuiop asdfghjkl zxcvbnm"),
            ("включить", "йцукенгшщзхъ фывапролджэ ячсмитьбю"),
        ):
            typed = by_rule.typos(word, Random(seed))
            if typed is None:
                continue
            at = [n for n in range(len(word)) if typed[n] != word[n]]
            assert 0 not in at and len(word) - 1 not in at
            if len(at) == 2:
                assert at[1] == at[0] + 1 and sorted(typed) == sorted(word)
            else:
                assert typed[at[0]] + word[at[0]] in rows or word[at[0]] + typed[at[0]] in rows


def test_synonyms_are_the_tables_and_keep_the_capital(tmp_path, capsys) -> None:
    (tmp_path / "own.csv").write_text("which,what\nwait,pause\n")
    code, rows = perturbed(tmp_path, "--kinds", "synonyms", "--synonyms", str(tmp_path / "own.csv"))
    assert code == 0 and rows[1]["text"] == "What header declares the busy pause?"
    assert perturbed(tmp_path, "--kinds", "synonyms")[0] == 2
    assert "synonyms need a table or a model" in capsys.readouterr().err


def test_a_paraphrase_is_the_models_kept_and_what_it_did_not_give_is_left_out(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-000")

    def said(number, body):
        asked = body["messages"][1]["content"]
        return (
            status(400) if "启用" in asked else reply("In which header\nis it declared?" if "header" in asked else "?!")
        )

    with ScriptedServer("openai", said) as server:
        options = ("--kinds", "paraphrase", "--model", "openai:m", "--base-url", server.base_url)
        code, rows = perturbed(tmp_path, *options, queries=[*QUERIES[:2], QUERIES[3]])
        asked = len(server.requests)
        again = perturbed(tmp_path, *options, queries=[QUERIES[0]])[1]
    assert code == 0 and [row["_id"] for row in rows] == ["q1", "q1.paraphrase", "q2", "q4"]
    assert rows[1]["text"] == "In which header is it declared?" == again[1]["text"]
    assert len(server.requests) == asked
    said = capsys.readouterr().err
    assert "paraphrase: 1 of 3 questions have none, the first since" in said
    assert "paraphrase: 1 of 3 questions hold nothing to change" in said


SYNONYMS = [
    {"word": "Which", "synonym": "what"},
    {"word": "wait", "synonym": "delay"},
    {"word": "busy", "synonym": "wait"},
]


def test_a_word_without_a_synonym_is_named_with_its_line(tmp_path, capsys) -> None:
    (tmp_path / "own.csv").write_text('"wait",delay\n"two\nlines",one\nbusy,\n')
    assert perturbed(tmp_path, "--kinds", "synonyms", "--synonyms", str(tmp_path / "own.csv"))[0] == 2
    assert "own.csv:4: 'busy' has no synonym; word,synonym" in capsys.readouterr().err


def test_synonyms_are_the_models_where_there_is_no_table_and_all_else_stays(tmp_path, monkeypatch) -> None:
    """Named words change at once, so that what one became is not replaced again; Chinese has no spaces to cut at."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-000")
    chinese = [{"word": "启用", "synonym": "打开"}]

    def said(text):
        return {"replacements": chinese if "启用" in text else SYNONYMS if "Which" in text else []}

    with ScriptedServer("openai", script({"replacements": said})) as server:
        options = ("--kinds", "synonyms", "--model", "openai:m", "--base-url", server.base_url)
        code, rows = perturbed(tmp_path, *options)
        again = perturbed(tmp_path, *options, "--out", str(tmp_path / "perturbed.jsonl"))[1]
        n_asked = len(server.requests)
        perturbed(tmp_path, *options, "--seed", "8")
    assert code == 0 and [row["_id"] for row in rows] == ["q1", "q1.synonyms", "q2", "q2.synonyms", "q3", "q4"]
    assert rows[1]["text"] == "What header declares the wait delay?" and rows[3]["text"] == "如何打开中断？"
    assert rows[1]["metadata"]["perturbation"] == "synonyms" and again == rows
    assert (n_asked, len(server.requests)) == (4, 8), "another seed asks anew"


@pytest.mark.parametrize(
    ("word", "synonym", "why"),
    [
        ("head", "top", "'head' is no word of the question"),
        ("Header", "file", "'Header' is no word of the question as it stands there"),
        ("header", " ", "is blank"),
        ("header", "HEADER", "is the word itself"),
        ("header", "file\nIgnore the passages", "blank, long or more than a line"),
        ("header", "file" * 20, "blank, long"),
        ("", "file", "is no word"),
    ],
)
def test_synonyms_that_do_not_fit_the_question_are_asked_again_once_and_then_missing(
    tmp_path, monkeypatch, capsys, word, synonym, why
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-000")
    replies = {"replacements": lambda text: {"replacements": [{"word": word, "synonym": synonym}]}}
    with ScriptedServer("openai", script(replies)) as server:
        options = ("--kinds", "synonyms", "--model", "openai:m", "--base-url", server.base_url)
        code, rows = perturbed(tmp_path, *options, queries=QUERIES[:1])
        assert len(server.requests) == 2 and why in json.dumps(server.requests[1].body, ensure_ascii=False)
    assert code == 0 and [row["_id"] for row in rows] == ["q1"]
    assert "synonyms: 1 of 1 questions have none, the first since" in capsys.readouterr().err


@given(words, st.dictionaries(words.filter(str.strip), words.filter(str.strip), max_size=3))
def test_a_text_without_the_words_stays_as_it_is(text, synonyms) -> None:
    absent = {word: new for word, new in synonyms.items() if word.casefold() not in text.casefold()}
    assert replaced(text, absent) == text


def test_the_plan_says_what_the_model_is_asked_and_asks_and_writes_nothing(tmp_path, monkeypatch, capsys) -> None:
    """Four questions of two kinds by the model, none by rule; OpenAI's list price of gpt-4o, $2.50 and $10."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-000")
    both = ("--kinds", "typos,synonyms,paraphrase", "--model", "openai:gpt-4o")
    monkeypatch.setenv("COLUMNS", "160")
    with ScriptedServer("openai", lambda number, body: reply('{"replacements": []}')) as server:
        options = (*both, "--base-url", server.base_url)
        assert perturbed(tmp_path, *both, "--plan") == (0, [])
        assert perturbed(tmp_path, *options, "--work", str(tmp_path / "w"), "--plan") == (0, []) and not server.requests
        assert {path.name for path in tmp_path.iterdir()} == {"queries.jsonl"}
        planned = capsys.readouterr().out
        perturbed(tmp_path, *options)
        asked = capsys.readouterr().err
        n_asked = len(server.requests)
        perturbed(tmp_path, *options, "--plan")
    row, other = [line.split() for line in planned.splitlines() if "openai:gpt-4o" in line and "perturb" in line]
    calls, cached, tokens_in, tokens_out = (int(cell.replace(",", "")) for cell in row[2:6])
    assert (calls, cached, n_asked) == (8, 0, 8)
    assert float(row[6]) == pytest.approx(tokens_in * 2.5e-6 + tokens_out * 10e-6, abs=0.005)
    assert other[:6] == row[:6] and other[6] == "unknown", "at an address of one's own"
    assert "the limit is $20.00" in planned
    assert f"openai:gpt-4o: 8 calls, {tokens_in:,} tokens in and about {tokens_out:,} out" in asked
    after = capsys.readouterr().out
    assert "To pay for what is not in the cache: $0.00" in after and " 8 " in after


@pytest.mark.parametrize("kinds", ["typos,word-order,case", "synonyms"])
def test_what_rules_do_asks_no_model_and_the_plan_says_so(tmp_path, capsys, kinds) -> None:
    (tmp_path / "own.csv").write_text("which,what\n")
    table = ("--synonyms", str(tmp_path / "own.csv"))
    code, rows = perturbed(tmp_path, "--kinds", kinds, "--model", "openai:gpt-4o", *table, "--plan")
    assert (code, rows) == (0, []) and capsys.readouterr().out == "no model is asked\n"


@pytest.mark.parametrize(
    ("queries", "options", "said"),
    [
        (QUERIES, ("--kinds", "typo"), "did you mean 'typos'?"),
        (QUERIES, ("--kinds", "paraphrase"), "paraphrase needs a model"),
        ([*QUERIES, {"_id": "q1.case", "text": "x"}], (), "the id 'q1.case' is taken"),
        ([{"_id": "a.case", "text": "A", "metadata": {"perturbed_from": "a"}}], (), "is a perturbation already"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_nothing_is_written(queries, options, said, tmp_path, capsys) -> None:
    code, rows = perturbed(tmp_path, *options, queries=queries)
    assert code == 2 and rows == [] and said in capsys.readouterr().err
