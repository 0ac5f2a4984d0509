"""`ragassay archive`: what auditors want, the same bytes twice, digests that hold, and no key."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest

from ragassay.cli import main

KEY = "sk-proj-1234567890abcdefghij"


@pytest.fixture
def run(tmp_path):
    results, corpus = tmp_path / "results", tmp_path / "corpus"
    for name, text in {
        "results.json": "{}\n",
        "judgments.jsonl": f'{{"error": "key {KEY} is wrong"}}\n',
        "manifests/judge.json": "{}\n",
        "replies/aa.json": "{}\n",
        ".lock": "",
    }.items():
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(text)
    corpus.mkdir()
    (corpus / "experiment.toml").write_text("[judge]\n")
    (corpus / "secret.pdf").write_bytes(b"%PDF")
    return tmp_path


def test_it_holds_results_settings_prompts_and_digests(run):
    out = run / "run.zip"
    command = ["archive", str(run / "results"), "--corpus", str(run / "corpus"), "--out"]
    assert main([*command, str(out)]) == 0 and main([*command, str(run / "again.zip")]) == 0
    assert out.read_bytes() == (run / "again.zip").read_bytes()
    with zipfile.ZipFile(out) as archive:
        names, told = archive.namelist(), json.loads(archive.read("digests.json"))
        assert {name for name in names if not name.startswith("prompts/")} == {
            "results/results.json",
            "results/judgments.jsonl",
            "results/manifests/judge.json",
            "corpus/experiment.toml",
            "digests.json",
        }
        assert "prompts/evaluate/judging/judges/prompts/correctness.md" in names
        for name, digest in told["sha256"].items():
            assert hashlib.sha256(archive.read(name)).hexdigest() == digest
        assert KEY not in archive.read("results/judgments.jsonl").decode()
    assert told["blanked"] == ["results/judgments.jsonl"] and told["packages"]["pydantic"]


def test_what_is_no_run_or_would_hold_itself_is_refused(run, capsys):
    assert main(["archive", str(run / "corpus"), "--out", str(run / "x.zip")]) == 2
    assert main(["archive", str(run / "results"), "--out", str(run / "results" / "x.zip")]) == 2
    assert capsys.readouterr().err.count("\n") == 2 and not list(run.rglob("*.zip*"))
