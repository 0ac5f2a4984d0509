"""`benchmarks/results.md`: rows from several benchmarks, kept apart, with what was missed and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.speed.aims import RECORDING, note, why, write_table


def test_rows_are_kept_by_key_and_what_is_missed_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store, table = tmp_path / "aims.json", tmp_path / "results.md"
    monkeypatch.setenv(RECORDING, str(store))
    monkeypatch.setenv(f"{RECORDING}_LOAD", "0.25")
    note("help", "`--help`", "under 0.3 s", "0.90 s", missed=why((True, "it was slow"), (False, "it was long")))
    note("elo", "games", "20 times", "0.03 s", peer="a | b", ratio="42", packages=("numpy", "no-such-package"))
    note("help", "`--help`", "under 0.3 s", "0.31 s", missed=why((True, "it was slow"), (True, "it was long")))
    write_table(store, table)
    lines = table.read_text().splitlines()
    rows = [line for line in lines if line.startswith(("| games", "| `--help`"))]
    assert rows[:2] == [
        "| games | 20 times | 0.03 s | a / b | 42 | met |",
        "| `--help` | under 0.3 s | 0.31 s |  |  | missed |",
    ]
    assert "- `--help`: it was slow; it was long." in lines
    assert rows[2].endswith(f"| 0.2 | numpy {__import__('numpy').__version__}, no-such-package not installed |")


def test_without_a_place_to_keep_it_a_row_is_only_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.delenv(RECORDING, raising=False)
    note("help", "`--help`", "under 0.3 s", "0.04 s")
    assert capsys.readouterr().out == "aim: `--help`: under 0.3 s: met (0.04 s)\n"
    write_table(tmp_path / "none.json", tmp_path / "results.md")
    assert not list(tmp_path.iterdir())
