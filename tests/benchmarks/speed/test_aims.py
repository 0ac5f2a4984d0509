"""`benchmarks/results.md`: rows that stand in the results files, each with what it was to be, and no other."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from support.places import ROOT

from benchmarks.speed.aims import note, rows_of, table_of, why


def printed(*args: str, **options: object) -> str:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        note(*args, **options)  # type: ignore[arg-type]
    return stream.getvalue()


def test_what_a_benchmark_prints_comes_into_the_table_as_it_was(tmp_path: Path) -> None:
    missed = why((True, "it was slow"), (False, "it was long"), (True, "it was loud"))
    lines = printed("`--help`: twice", "under 0.3 s: or so", "0.90 s (of 2)", missed=missed)
    lines += "other\n" + printed("games", "20 times", "0.03 s", peer="a | b", ratio="42", packages=("no-such-package",))
    (tmp_path / "speed").mkdir()
    (tmp_path / "speed" / "elo.md").write_text(f"# speed.elo\n\n```\n{lines}```\n")
    (tmp_path / "none.md").write_text("# none\n\nwhat aim: it was not: met (1)\n")
    table = table_of(tmp_path).splitlines()
    file = "[speed/elo.md](results/speed/elo.md)"
    assert [line for line in table if line.startswith("| ")][1:] == [
        f"| `--help`: twice: under 0.3 s: or so | 0.90 s (of 2) |  | missed | {file} |",
        f"| games: 20 times | 0.03 s, 42 | a / b | met | {file} |",
    ]
    assert table[-1] == "- `--help`: twice: under 0.3 s: or so: it was slow; it was loud."
    assert "     with no-such-package not installed" in lines


def test_the_table_is_made_of_the_results_files_and_of_nothing_else() -> None:
    assert (ROOT / "benchmarks" / "results.md").read_text("utf-8") == table_of(ROOT / "benchmarks" / "results")
    assert len(rows_of(ROOT / "benchmarks" / "results")) > 10
