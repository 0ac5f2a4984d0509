"""Time and memory of all evaluators that ask nothing, over made-up answers, as `ragassay judge` runs them.

    python -m benchmarks.judges.without_a_model [N]

N (10,000) answers of 120 words on average in Latin, Cyrillic, Arabic and Chinese letters, one word in 25 a number,
seeded, with five passages each, an expected response and a condition. The command runs with all of them at once, in a
process of its own, whose clock, CPU and peak of memory are told; then once for each, less the time of a run of
`document_recall` alone (reading, writing), which owes nothing here.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.machine import machine
from ragassay.evaluate.judging.catalog import built_in

ANSWERS, WORDS, PASSAGES, SECONDS, NUMBERS = 10_000, 120, 5, 60.0, 0.04
SCRIPTS = (
    "abcdefghijklmnoprstuvwy",
    "абвгдежзиклмнопрстуфхц",
    "ابتثجحخدرسشصضطعغفقكلمنهوي",
    "的一是在不了有和人这中大为上个国",
)
NOTHING = "document_recall"


def write(folder: Path, n: int) -> None:
    """answers.jsonl, queries.jsonl and passages.jsonl."""
    generator = random.Random(7)
    words = [["".join(generator.choices(one, k=generator.randint(1, 9))) for _ in range(2000)] for one in SCRIPTS]
    texts = [_text(generator, words[number % 4], 80) for number in range(1000)]
    passages = ({"_id": f"p{number}", "title": "", "text": text} for number, text in enumerate(texts))
    _lines(folder / "passages.jsonl", passages)
    queries, answers = [], []
    for number in range(n):
        mine = words[number % 4]
        truth = {"expected_response": _text(generator, mine, 20), "conditions": f'"{mine[0]}" OR NOT regexp{{(a+)+$}}'}
        queries.append({"_id": f"q{number}", "text": _text(generator, mine, 15), "metadata": truth})
        text = _text(generator, mine, max(1, int(generator.gauss(WORDS, WORDS / 3))))
        shown = [f"p{place}" for place in generator.sample(range(1000), PASSAGES)]
        answers.append({"query_id": f"q{number}", "agent": "made-up", "answer": text, "passages": shown})
    _lines(folder / "queries.jsonl", queries)
    _lines(folder / "answers.jsonl", answers)


def _text(generator: random.Random, words: list[str], n: int) -> str:
    picked = [word if generator.random() > NUMBERS else _number(generator) for word in generator.choices(words, k=n)]
    return " ".join(f"{word.capitalize()}." if place % 12 == 11 else word for place, word in enumerate(picked))


def _number(generator: random.Random) -> str:
    """As manuals have them: a figure, a section, an address in memory, a version, an identifier of eight digits."""
    forms = (str(generator.randint(0, 999)), "23.5.2", f"0x{generator.getrandbits(16):04X}", "2.13.0")
    return generator.choice((*forms, f"{generator.randint(10**7, 10**8 - 1)}"))


def _lines(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def judge(folder: Path, names: str) -> tuple[float, float]:
    """(clock, CPU) in seconds of one run."""
    files = [
        part for name in ("answers", "queries", "passages") for part in (f"--{name}", str(folder / f"{name}.jsonl"))
    ]
    command = [sys.executable, "-m", "ragassay", "judge", *files, "--model", "openai:none", "--with", names]
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, "--out", str(folder / "out.jsonl")], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(n: int) -> None:
    """Print the table, all together first."""
    names = [name for name, kind in built_in().items() if kind.asks == "nothing"]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write(folder, n)
        clock, cpu = judge(folder, ",".join(names))
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        base = judge(folder, NOTHING)[1]
        met = "met" if clock < SECONDS else "missed"
        print(f"{machine()}\n{n:,} answers, {len(names)} evaluators together: {clock:.1f} s, {cpu:.1f} s of CPU")
        print(f"at most {most:.0f} MiB; {met}: under {SECONDS:.0f} s")
        print(f"reading and writing alone: {base:.1f} s of CPU")
        for name in names:
            print(f"{name:24} {max(judge(folder, name)[1] - base, 0.0):6.1f} s of CPU")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ANSWERS)
