"""The names of `ragassay`: what docs/from-python.md shows of files runs as it stands there, and each name is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest
from support.made_up_results.workspace import make_workspace
from support.places import ROOT

import ragassay

TEXTS = {
    "p1": "The header util/delay.h declares _delay_ms, which waits in a busy loop.",
    "p2": "The watchdog resets the chip when nobody feeds it in time.",
    "p3": "Timers count pulses of the clock, divided by a prescaler.",
}
ASKED = {"q1": "Which header declares _delay_ms?", "q2": "What resets the chip?", "q3": "What do timers count?"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    def lines(name, rows):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    lines("corpus.jsonl", [{"_id": id, "title": "", "text": text} for id, text in TEXTS.items()])
    queries = zip(ASKED.items(), "aab", strict=True)
    lines("queries.jsonl", [{"_id": id, "text": text, "metadata": {"section": s}} for (id, text), s in queries])
    places = list(zip(ASKED, TEXTS, strict=True))
    (tmp_path / "qrels.tsv").write_text("".join(f"{query} 0 {passage} 1\n" for query, passage in places))
    (tmp_path / "run.trec").write_text("".join(f"{query} Q0 {passage} 1 0.5 x\n" for query, passage in places[:2]))
    pairs = (("one", "two"), ("two", "three"), ("one", "three"))
    games = [(query, a, b, "b" if query == "q3" else "a") for query in ASKED for a, b in pairs]
    names = ("query_id", "agent_a", "agent_b", "winner")
    lines("games.jsonl", [{**dict(zip(names, game, strict=True)), "first": "a"} for game in games])
    labels = ["query_id,ana,model", *(f"q{n},{n % 3},{n % 3 if n else 1}" for n in range(12))]
    (tmp_path / "labels.csv").write_text("\n".join(labels))
    made = make_workspace(tmp_path / "made", 24, failures=False)
    for name in ("old", "new"):
        shutil.copytree(made.results, tmp_path / "results" / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_the_page_shows_runs_and_says_what_the_verbs_say(folder, capsys):
    page = (ROOT / "docs" / "from-python.md").read_text().split("## On files")[1]
    found: dict[str, object] = {}
    exec(re.search(r"```python\n(.*?)```", page, re.S)[1], found)
    assert capsys.readouterr().out.count("| measure | mean") == 1
    scores, ratings = found["scores"], found["ratings"]
    assert [str(row[1]).split()[0] for row in scores.rows] == ["0.6667", "0.6667"]
    assert "lacks" in scores.notes[0]
    assert [row[0] for row in ratings.rows] == ["one", "two", "three"]
    assert 0 < found["agreement"].pairs[0].figures["kappa"].value < 1
    assert found["gate"].verdict == "not worse"
    assert [found["found"][query][0][0] for query in ASKED] == list(TEXTS)
    assert found["faults"].n == 3


def test_what_cannot_be_used_is_an_input_error(folder):
    with pytest.raises(ragassay.InputError, match="nowhere"):
        ragassay.score("nowhere.tsv", "run.trec")
    with pytest.raises(ragassay.InputError, match="no-measure"):
        ragassay.score("qrels.tsv", "run.trec", measures=["no-measure"])


def test_every_name_is_there_and_none_is_loaded_before_it_is_asked_for():
    for name in ragassay.__all__:
        assert getattr(ragassay, name) is not None
    assert set(ragassay.__all__) <= set(dir(ragassay))
    with pytest.raises(AttributeError, match="no attribute 'wrong'"):
        _ = ragassay.wrong
    code = "import sys, ragassay; print(*sorted(name for name in sys.modules if name.startswith('ragassay')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["ragassay"]
