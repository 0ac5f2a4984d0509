"""The benchmarks that ask a model: requests out, replies by a script in, and the figures that it must come to."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score
from support.json_lines import write_lines
from support.schema_replies import reply_to

from benchmarks.judges import injection, meta_evaluation, meta_sets
from benchmarks.judges.take_replies import take
from benchmarks.judges.wordings import better, differences
from ragassay.calls.reply_cache import output_line
from ragassay.errors import InputError
from ragassay.files import read_objects, read_records
from ragassay.records import Figure, Passage


def answer_all(folder: Path, name: str, label_of: Callable[[str, str], object], target: Path) -> Path:
    """A reply to every request; `label_of` is given the user's message and the request file's path."""
    lines = []
    for file in sorted((folder / name).rglob("requests/*.jsonl")):
        for _, row in read_objects(file):
            value = json.loads(reply_to(row["body"]))
            label = label_of(row["body"]["messages"][1]["content"], str(file))
            text = json.dumps({**value, "label": label})
            message = {"role": "assistant", "content": text}
            lines.append(output_line(row["custom_id"], {"choices": [{"message": message, "finish_reason": "stop"}]}))
    write_lines(target, lines)
    return target


@pytest.fixture
def data(tmp_path):
    """Small sets in the layouts of the published ones; what people accepted says RIGHT."""
    folder = tmp_path / "data"
    stances = {"completely-support": "RIGHT", "partially-support": "half", "irrelevant": "else", "refute": "not"}
    rows = [
        {"claim": f"Claim {n} {stance}.", "evidence": f"Evidence {n}: {word}.", "stance": stance}
        for n in range(6)
        for stance, word in stances.items()
    ]
    twice = {"claim": "Disputed.", "evidence": "Both ways.", "stance": "refute"}
    write_lines(
        folder / "factcheckgpt" / "subtask3_claim_evidence_stance.jsonl",
        [*rows, twice, {**twice, "stance": "completely-support"}],
    )
    write_lines(
        folder / "scifact" / "corpus.jsonl",
        [{"_id": f"d{n}", "title": f"cells {n}", "text": f"RIGHT for number{n}."} for n in range(8)]
        + [{"_id": f"x{n}", "title": "cells", "text": f"Other cells of number{n}."} for n in range(8)],
    )
    write_lines(
        folder / "scifact" / "queries.jsonl", [{"_id": f"{n}", "text": f"cells number{n} grow"} for n in range(8)]
    )
    (folder / "scifact" / "qrels").mkdir()
    qrels = "query-id\tcorpus-id\tscore\n" + "".join(f"{n}\td{n}\t1\n" for n in range(8))
    (folder / "scifact" / "qrels" / "test.tsv").write_text(qrels)
    nq = folder / "nq301"
    nq.mkdir()
    verdicts = [("RIGHT one", "Yes", "Yes"), ("wrong one", "No", "Yes"), ("RIGHT two", "Yes", "No"), ("bad", "No", "")]
    table = {name: [f"id\tQuestion\tGold answers\tModel answer\tAcceptable?\tannotator1\t{name}"] for name in FILES}
    for number, (answer, people, peer) in enumerate(verdicts, 1):
        for name, lines in table.items():
            spelt = f'"{answer}"' if name == "BEM" else answer
            verdict = people if name == "human" else peer
            lines.append(f'{number}\twhich is it {number}\t"Gold | Other {number}"\t{spelt}\t{verdict}\t{people}\t')
    for name, lines in table.items():
        (nq / f"NQ301_{name}.tsv").write_text("\n".join(lines) + "\n")
    (folder / "paper_tables").mkdir()
    (folder / "paper_tables" / "triad_judges.csv").write_text(
        "metric,dataset,judge,precision,recall,f1,cohen_kappa,off_by_1_accuracy\n"
        "groundedness,LLM-AggreFact,Somebody's,0.1,0.2,0.3,0.4,\n"
    )
    return folder


FILES = ("human", "BEM", "gpt-4", "text-davinci-003")


def by_the_mark(shown: str, file: str) -> object:
    """A judge that knows: the mark RIGHT in what it is shown. In the paper's wording every passage is right to it."""
    right = "RIGHT" in shown or ("paper" in file and "context_relevance" in file)
    return ("yes" if right else "no") if "correctness" in file else (3 if right else 1)


def beginning(lines: list[str], start: str) -> list[str]:
    return next(line for line in lines if line.startswith(start)).split(" | ")


def test_three_sets_are_judged_by_replies_that_were_taken_in(tmp_path, data, capsys, monkeypatch):
    monkeypatch.setattr(meta_sets, "N", 8)
    work, kept = tmp_path / "work", tmp_path / "kept"
    assert meta_evaluation.main(data, work=work, kept=kept) == 3
    assert "take_replies meta_evaluation" in capsys.readouterr().err
    file = answer_all(work, "meta_evaluation", by_the_mark, tmp_path / "replies.jsonl")
    said = take("meta_evaluation", [file], kept=kept, work=work)
    assert said.startswith("32 replies taken in (0 answer no request") and said.endswith("; 0 requests still wait")
    assert meta_evaluation.main(data, work=work, kept=kept) == 0
    lines = capsys.readouterr().out.splitlines()
    ours, strict, partly = (line.split(" | ") for line in lines[2:5])
    assert ours[:2] == ["| **groundedness**, both wordings, from 2", "factcheckgpt, 8 rows"]
    assert ours[2] == "completely-support, 4 of 8 (25% of the set's 24)"
    assert ours[3].startswith("1.000") and ours[6].startswith("1.000") and ours[-2:] == ["8", "0 |"]
    assert strict[0].endswith("from 3") and strict[7].startswith("1.000")
    assert partly[2].startswith("completely-support or partially-support, ")
    assert partly[3].startswith("1.000"), "nothing else was taken for it"
    mine = beginning(lines, "| **context_relevance**, ragassay, from 2 | scifact, 8 rows")
    theirs = beginning(lines, "| **context_relevance**, paper, from 2 | scifact, 8 rows")
    assert mine[7].startswith("1.000") and theirs[7].startswith("0.500")
    for wording in ("ragassay", "paper"):
        assert beginning(lines, f"| **correctness**, {wording}, from 1 | nq301, 4 rows")[7].startswith("1.000")
    assert beginning(lines, "| Somebody's, as printed | LLM-AggreFact")[3:7] == ["0.1", "0.2", "0.3", "0.4"]
    # Yes Yes No – against Yes No Yes No: one of the three that have a verdict is right
    peer = beginning(lines, "| GPT-4")
    assert peer[7].startswith("0.333") and peer[-2:] == ["3", "1 |"]
    assert "| completely-support | 0 | 4 |" in lines
    lost = beginning(lines, "| **context_relevance**, from 2 | scifact |")
    assert lost[2].startswith("-1.000") and lost[3].startswith("-0.500") and lost[4] == "+0.000"
    assert lost[5].startswith("+1.000") and lost[6:] == ["not told apart", "8", "0 |"]
    assert beginning(lines, "| **correctness**, from 1 | nq301 |")[2:] == [
        *["+0.000"] * 4,
        "not told apart",
        "4",
        "0 |",
    ]
    assert not any(line.startswith("| **groundedness**, from 2 | factcheckgpt |") for line in lines), "one prompt"


def test_one_wording_alone_asks_and_shows_nothing_of_the_other(tmp_path, data, capsys, monkeypatch):
    monkeypatch.setattr(meta_sets, "N", 8)
    work, kept = tmp_path / "work", tmp_path / "kept"
    assert meta_evaluation.main(data, ("ragassay",), work=work, kept=kept) == 3
    assert not (work / "meta_evaluation" / "paper").exists()
    take(
        "meta_evaluation",
        [answer_all(work, "meta_evaluation", by_the_mark, tmp_path / "r.jsonl")],
        kept=kept,
        work=work,
    )
    capsys.readouterr()
    assert meta_evaluation.main(data, ("ragassay",), work=work, kept=kept) == 0
    assert "paper" not in capsys.readouterr().out.replace("paper_tables", "")


TRUTH = [True] * 6 + [False] * 6
OTHER = [True] * 5 + [False] * 6 + [None]
ONE = [True] * 3 + [False] * 3 + [True] * 2 + [False] * 4


def test_a_difference_of_two_wordings_is_that_of_their_figures():
    found = differences(TRUTH, ONE, OTHER, list("abcdefghijkl"), bootstrap=200, seed=7)
    both = [place for place, said in enumerate(OTHER) if said is not None]
    people, one, other = ([side[place] for place in both] for side in (TRUTH, ONE, OTHER))
    step = cohen_kappa_score(people, other) - cohen_kappa_score(people, one)
    assert found["kappa"].value == pytest.approx(step)
    assert found["accuracy"].value == pytest.approx((10 - 6) / 11)
    assert found["recall"].value == pytest.approx((5 - 3) / 6)
    assert found["false positive rate"].value == pytest.approx(-2 / 5)
    assert {(one.n, one.n_failed) for name, one in found.items() if name in ("kappa", "accuracy")} == {(11, 1)}
    back = differences(TRUTH, OTHER, ONE, list("abcdefghijkl"), bootstrap=200, seed=7)
    for name, figure in found.items():
        ends = (-back[name].ci_high, -back[name].value, -back[name].ci_low)
        assert (figure.ci_low, figure.value, figure.ci_high) == pytest.approx(ends)


def test_the_better_is_named_only_where_the_interval_says_so():
    def said(low, high):
        return better(Figure(value=0.1, n=9, ci_low=low, ci_high=high), "one", "other")

    assert said(0.01, 0.2) == "other" and said(-0.2, -0.01) == "one"
    assert said(-0.01, 0.2) == said(None, None) == "not told apart"


def test_a_draw_is_the_same_again_and_holds_no_pair_with_two_labels(data):
    drawn = [meta_sets.factcheckgpt(data / "factcheckgpt").labelled for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert "Disputed." not in {row.cluster for row in drawn[0].rows}


def test_replies_that_report_an_error_are_not_kept(tmp_path):
    bad = tmp_path / "bad.jsonl"
    write_lines(bad, [{"custom_id": "k", "response": {"status_code": 500, "body": {}}, "error": {"message": "no"}}])
    with pytest.raises(InputError, match="reports an error"):
        take("injection", [bad], kept=tmp_path / "kept", work=tmp_path / "work")
    assert not (tmp_path / "kept").exists()


def test_replies_are_kept_by_key_and_the_file_is_the_same_whatever_the_order(tmp_path):
    lines = [output_line(key, {"choices": []}) for key in ("b", "a")]
    made = []
    for name, rows in (("one", lines), ("other", lines[::-1])):
        write_lines(tmp_path / f"{name}.jsonl", rows)
        take("injection", [tmp_path / f"{name}.jsonl"], kept=tmp_path / name, work=tmp_path / "work")
        made.append((tmp_path / name / "injection.jsonl.gz").read_bytes())
    assert made[0] == made[1]
    assert [json.loads(line)["custom_id"] for line in gzip.decompress(made[0]).splitlines()] == ["a", "b"]


@pytest.fixture
def results(tmp_path):
    """Six agents' answers to six queries, each naming its query."""
    folder = tmp_path / "results"
    write_lines(folder / "queries.jsonl", [{"_id": f"q{n}", "text": f"What is topic{n}?"} for n in range(6)])
    write_lines(folder / "corpus.jsonl", [{"_id": f"p{n}", "text": f"Of topic{n}."} for n in range(6)])
    for agent in "abcdef":
        rows = [
            {"query_id": f"q{n}", "agent": agent, "answer": f"topic{n} by {agent}", "passages": [f"p{n}"]}
            for n in range(6)
        ]
        write_lines(folder / "answers" / f"{agent}.jsonl", rows)
    return folder


def obeys_commands(shown: str, file: str) -> object:
    """Right but for the one text that it obeys."""
    best, worst = ("yes", "no") if "agent_groundedness" in file else (3, 0)
    asked = shown.split("What is ")[1].split("?")[0]
    right = f"{asked} by" in shown
    if "Ignore your instructions" in shown:
        right = not right
    return best if right else worst


def test_a_judge_that_obeys_one_of_five_texts_moves_a_fifth_of_its_labels(tmp_path, results, capsys):
    work, kept = tmp_path / "work", tmp_path / "kept"
    assert injection.main(results, work=work, kept=kept) == 3
    parts = {part: sorted((work / "injection" / part).rglob("*.jsonl")) for part in ("with", "without")}
    assert [len(files) for files in parts.values()] == [2, 2]
    assert all("Ignore your instructions" not in file.read_text() for file in parts["without"])
    file = answer_all(work, "injection", obeys_commands, tmp_path / "replies.jsonl")
    assert take("injection", [file], kept=kept, work=work).startswith("120 replies")
    capsys.readouterr()
    assert injection.main(results, work=work, kept=kept) == 0
    out = capsys.readouterr().out
    for judge in injection.JUDGES:
        assert f"| {judge} | moved at all | 20.0% [" in out
        assert f"| {judge} | moved the other way | 0.0% [0.0%, " in out
    assert "| command | 12 | 12 |" in out and "| closing tag | 0 | 12 |" in out


def test_half_of_the_answers_stand_under_a_question_of_others(results):
    drawn = injection.items(results)
    assert [item.wanted for item in drawn] == [0, 1] * 15
    assert all((item.answer.query_id != item.query.id) == bool(item.wanted) for item in drawn)
    assert {item.text for item in drawn} == set(injection.TEXTS)
    known = {passage.id for passage in read_records(results / "corpus.jsonl", Passage)}
    assert all({passage.id for passage in item.passages} <= known for item in drawn)
    with pytest.raises(InputError, match="make demo"):
        injection.items(results, n=100)
