"""Planted faults that no pattern was mended on, found by the evaluators of `planted_faults`.

    python -m benchmarks.judges.fresh_faults RESULTS MANUALS [TEXTS]

As `benchmarks.judges.planted_faults`, which is fitted on what it reports, with a second set of faults
(`faults/fresh.py`): what is found of these is what can be expected of others. False alarms are the other table's.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.judges.faults import fresh
from benchmarks.judges.faults.prose import of_manuals, of_the_demo
from benchmarks.judges.planted_faults import SEED, TEXTS, Trial, looped, table, within
from benchmarks.machine import machine


def trials() -> Iterator[Trial]:
    """All of them; nothing is looked at that has no fault."""
    contacts = {kind: fresh.PERSONAL[kind] for kind in ("email", "phone")}
    yield Trial("pii_leakage", within(fresh.PERSONAL), {}, named=True)
    yield Trial("contact_information_found", within(contacts), {}, named=True)
    yield Trial("sensitive_data_leakage", within(fresh.SECRETS), {}, named=True)
    yield Trial("encoding_guardrail", within(fresh.ENCODED), {})
    for name in ("looping", "loops_found"):
        yield Trial(name, {kind: looped(loop) for kind, loop in fresh.LOOPS.items()}, {})


def main(results: Path, manuals: Path, most: int) -> None:
    """Print all tables."""
    texts = [*of_the_demo(results), *of_manuals(manuals, most)]
    print(f"{machine()}\ntexts: {dict(Counter(text.of for text in texts))}, seed {SEED}; nothing was mended on these\n")
    for trial in trials():
        print("\n".join(table(trial, texts)), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else TEXTS)
