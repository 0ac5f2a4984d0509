"""The heat map: a cell for each agent and question, what has no label apart, small, and nothing but drawing in it."""

from __future__ import annotations

import re

from support.made_up_results.texts import AGENTS
from support.made_up_results.workspace import make_workspace
from support.results_folder import judgment

from ragassay.evaluate.report.page import heat_map
from ragassay.evaluate.report.queries import Evidence, read_evidence
from ragassay.records import Query


def evidence(labels: dict[tuple[str, str], float | None]) -> Evidence:
    queries = [Query(_id=q, text="?") for q in dict.fromkeys(q for q, _ in labels)]
    rows = {key: [judgment(*key, "accuracy", label), judgment(*key, "refusal", 1)] for key, label in labels.items()}
    return Evidence(queries, {}, {}, {}, {}, {}, rows, {}, [])


def test_questions_stand_from_hardest_to_easiest_in_shades():
    labels = {("q1", "a"): 2, ("q2", "a"): 0, ("q1", "b"): 1, ("q2", "b"): None}
    found = heat_map(evidence(labels), ["a", "b"])
    assert found and (found.hardest, found.easiest) == (("q2", "0.00"), ("q1", "0.75"))
    drawn = dict(re.findall(r'class="(h\w)" d="(.*?)"', found.svg))
    assert {shade: path.split("h")[0] for shade, path in drawn.items()} == {
        "h0": "M0 0",
        "h4": "M1 0",
        "h2": "M1 1",
        "hf": "M0 1",
    }
    assert found.n_failed == 1


def test_it_is_small_and_holds_every_cell_once():
    labels = {(f"q{i}", f"a{j}"): (i * j) % 3 for i in range(200) for j in range(6)}
    found = heat_map(evidence(labels), [f"a{j}" for j in range(6)])
    assert found and len(found.svg) < 60_000
    assert sorted(set(re.findall(r"M\d+ \d+", found.svg))) == sorted(f"M{i} {j}" for i in range(200) for j in range(6))


def test_hostile_names_are_text(tmp_path):
    made = make_workspace(tmp_path)
    found = heat_map(read_evidence(made, AGENTS), AGENTS)
    assert found and "<script" not in found.svg and heat_map(evidence({("q1", "a"): 1}), ["a"]) is None
