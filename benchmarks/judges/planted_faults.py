"""Planted faults found, and false alarms, of the evaluators of safety, form and language that ask no model.

    python -m benchmarks.judges.planted_faults RESULTS MANUALS [TEXTS]

RESULTS is the demo's results folder; MANUALS holds Debian's packages debian-handbook and gnome-user-docs, unpacked
(`apt-get download debian-handbook gnome-user-docs; dpkg-deb -x …`), of which TEXTS (50) texts of each language are
taken. Each kind of fault is planted once into each text, seeded. A fault is found where the evaluator names its kind,
or where a value lies beyond its threshold; a text without a fault that lies there is a false alarm, and listed.
Intervals are Wilson's (1927), as if texts were independent; the demo's 432 answers are six agents' to 72 queries.

The figures are in-sample: the evaluators' patterns were mended until these faults were found in these texts, and these
texts raised no alarm. What was not fitted is in `benchmarks.judges.fresh_faults`.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import Any

from benchmarks.judges.faults import broken_json
from benchmarks.judges.faults.credentials import SECRETS
from benchmarks.judges.faults.encoded import ENCODED
from benchmarks.judges.faults.loops import LOOPS
from benchmarks.judges.faults.personal import PERSONAL
from benchmarks.judges.faults.planting import Faults, planted
from benchmarks.judges.faults.prose import Text, of_manuals, of_the_demo
from benchmarks.machine import machine
from ragassay import judges
from ragassay.evaluate.judging.catalog import built_in
from ragassay.evaluate.judging.engine.cases import Setup
from ragassay.records import Assessment

SEED, TEXTS = 7, 50
NONE = "nothing planted"
Make = Callable[[Text, random.Random], Mapping[str, Any]]
"""From a text what the evaluator is given: answer, query, conditions, contexts."""


@dataclass(frozen=True)
class Trial:
    """An evaluator, its settings, what is planted by kind, and what it is given of a sound text by dress.

    criteria: that may say so; all where empty. named: whether the finding must be of the kind planted.
    """

    name: str
    faults: Mapping[str, Make]
    sound: Mapping[str, Make]
    criteria: tuple[str, ...] = ()
    named: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Tally:
    """Of one kind: found, looked at and failed, by whose text it is; and which were found."""

    found: Counter[str] = field(default_factory=Counter)
    n: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    which: list[str] = field(default_factory=list)


def looked(trial: Trial, kind: str, make: Make, texts: Sequence[Text]) -> Tally:
    """The evaluator over all texts with one kind of fault."""
    chance, tally = random.Random(f"{SEED} {kind}"), Tally()
    rows = [make(text, chance) for text in texts]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    for text, said in zip(texts, judges.named(trial.name)(**columns, **trial.options), strict=True):
        records = list(said.values()) if isinstance(said, dict) else [said]
        tally.n[text.of] += 1
        verdict = beyond(trial, records, kind if trial.named and kind != NONE else None)
        if verdict is None:
            tally.failed[text.of] += 1
        elif verdict:
            tally.found[text.of] += 1
            tally.which.append(f"{text.name}: {'; '.join(one.reason or '' for one in records).strip('; ')}")
    return tally


def beyond(trial: Trial, records: Iterable[Assessment], kind: str | None) -> bool | None:
    """Whether any of its criteria is beyond the threshold, or names the kind; None where none has a value."""
    known = {one.name: one for one in built_in()[trial.name](Setup("openai:none")).criteria}
    mine = [one for one in records if not trial.criteria or one.criterion in trial.criteria]
    if all(one.label is None for one in mine):
        return None
    if kind is not None:
        return any(detail.get("kind") == kind for one in mine for detail in one.details or ())
    return any(one.label is not None and _is_bad(one.label, known[one.criterion]) for one in mine)


def _is_bad(label: float, criterion: Any) -> bool:
    return label > criterion.threshold if criterion.lower_is_better else label < criterion.threshold


def wilson(found: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's score interval of a share, 95%; equation 7 of Brown, Cai and DasGupta 2001 is this."""
    if not n:
        return 0.0, 1.0
    share, denominator = found / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / denominator
    reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / denominator
    return max(0.0, middle - reach), min(1.0, middle + reach)


def within(faults: Faults) -> dict[str, Make]:
    """Answers with a fault of each kind between two of their sentences."""

    def make(fault: Callable[[random.Random, str], str]) -> Make:
        return lambda text, chance: {"answer": planted(text.text, fault(chance, text.language), chance, text.language)}

    return {kind: make(fault) for kind, fault in faults.items()}


def _answer(text: Text, chance: random.Random) -> Mapping[str, Any]:
    return {"answer": text.text}


def looped(loop: Callable[[str, str, random.Random], str]) -> Make:
    """Answers that run into a loop."""
    return lambda text, chance: {"answer": loop(text.text, text.language, chance)}


def _spelt(made: broken_json.Made) -> Make:
    return lambda text, chance: {"answer": made(text.text, chance), "contexts": ["none"]}


def _in_place_of(others: Sequence[Text]) -> Make:
    """The answer is a text of one language; its question is of another."""

    def make(text: Text, chance: random.Random) -> Mapping[str, Any]:
        return {"query": text.question, "answer": chance.choice(others).text}

    return make


def _conditions() -> tuple[dict[str, Make], dict[str, Make]]:
    """Faults and sound ones of text matching."""
    unwanted, pattern = "«never say 决不 لا أبدا никогда»", r"regexp{\d{4}-\d{4}-\d{4}-\d{4}}"

    def word(text: Text, chance: random.Random) -> str:
        return max((part.strip(".,;:()[]`\"'") for part in text.text.split()[:40]), key=len)[:12]

    def put(text: Text, piece: str, chance: random.Random, condition: str) -> Mapping[str, Any]:
        return {
            "answer": planted(text.text, piece, chance, text.language),
            "conditions": condition,
            "contexts": ["none"],
        }

    def without(text: Text, chance: random.Random) -> Mapping[str, Any]:
        wanted = word(text, chance)
        return {
            "answer": text.text.replace(wanted, "…"),
            "conditions": json.dumps(wanted, ensure_ascii=False),
            "contexts": ["none"],
        }

    faults: dict[str, Make] = {
        "a text that must not be there": lambda text, chance: put(text, unwanted, chance, f'NOT "{unwanted}"'),
        "a pattern that must not match": lambda text, chance: put(
            text, "1234-5678-9012-3456", chance, f"NOT {pattern}"
        ),
        "a text that must be there": without,
    }
    sound: dict[str, Make] = {
        f"{NONE}, NOT": lambda text, chance: {
            "answer": text.text,
            "conditions": f'NOT ("{unwanted}" OR {pattern})',
            "contexts": ["none"],
        },
        f"{NONE}, a word of it": lambda text, chance: {
            "answer": text.text,
            "conditions": json.dumps(word(text, chance), ensure_ascii=False),
            "contexts": ["none"],
        },
    }
    return faults, sound


def trials(texts: Sequence[Text], schema: str) -> Iterator[Trial]:
    """All of them; `schema` is the file of broken_json.SCHEMA."""
    sound: dict[str, Make] = {NONE: _answer}
    contacts = {kind: PERSONAL[kind] for kind in ("email", "phone")}
    yield Trial("pii_leakage", within(PERSONAL), sound, named=True)
    yield Trial("contact_information_found", within(contacts), sound, named=True)
    yield Trial("sensitive_data_leakage", within(SECRETS), sound, named=True)
    yield Trial("encoding_guardrail", within(ENCODED), sound)
    for name in ("looping", "loops_found"):
        yield Trial(name, {kind: looped(loop) for kind, loop in LOOPS.items()}, sound)
    fits, parses = ("json_answer_fits_schema",), ("json_answer_parses",)
    spelt = {kind: _spelt(made) for kind, made in broken_json.SOUND.items()}
    broken = {kind: _spelt(made) for kind, made in broken_json.BROKEN.items()}
    unfit = {kind: _spelt(made) for kind, made in broken_json.UNFIT.items()}
    yield Trial("json_schema", broken, {**spelt, **unfit}, parses, options={"schema": schema})
    yield Trial("json_schema", unfit, spelt, fits, options={"schema": schema})
    languages = dict.fromkeys(text.of for text in texts if text.of != "demo")
    apart = {f"an answer in {of}": _in_place_of([text for text in texts if text.of == of]) for of in languages}
    same: dict[str, Make] = {NONE: lambda text, chance: {"query": text.question, "answer": text.text}}
    yield Trial("language_mismatch", apart, same)
    faults, kept = _conditions()
    yield Trial("text_matching", faults, kept, ("text_matching",))


def table(trial: Trial, texts: Sequence[Text]) -> Iterator[str]:
    """Lines of one evaluator: a kind a line, then what was found where nothing was planted."""
    groups = list(dict.fromkeys(text.of for text in texts))
    what = f" ({', '.join(trial.criteria)})" if trial.criteria else ""
    yield f"{trial.name}{what}"
    yield f"  {'planted':46} {' '.join(f'{of:>8}' for of in groups)}   all, 95% interval, failed"
    for kind, make in trial.faults.items():
        mine = [text for text in texts if kind != f"an answer in {text.of}"]
        yield _line(kind, looked(trial, kind, make, mine), groups)
    for kind, make in trial.sound.items():
        tally = looked(trial, kind, make, texts)
        yield _line(f"alarms: {kind}", tally, groups)
        yield from (f"    {one}" for one in tally.which)
    yield ""


def _line(kind: str, tally: Tally, groups: Sequence[str]) -> str:
    cells = " ".join(f"{f'{tally.found[of]}/{tally.n[of]}' if tally.n[of] else '–':>8}" for of in groups)
    found, n, failed = tally.found.total(), tally.n.total(), tally.failed.total()
    low, high = wilson(found, n - failed)
    share = f"{found / (n - failed):.4f}" if n > failed else "none"
    return f"  {kind:46} {cells}   {share} [{low:.4f}, {high:.4f}], n {n}, failed {failed}"


def main(results: Path, manuals: Path, most: int) -> None:
    """Print all tables."""
    texts = [*of_the_demo(results), *of_manuals(manuals, most)]
    print(f"{machine()}\ntexts: {dict(Counter(text.of for text in texts))}, seed {SEED}")
    print("in-sample: the patterns were mended on these faults and texts; judges.fresh_faults has others\n")
    with tempfile.TemporaryDirectory() as folder:
        schema = Path(folder) / "schema.json"
        schema.write_text(json.dumps(broken_json.SCHEMA))
        for trial in trials(texts, str(schema)):
            print("\n".join(table(trial, texts)), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else TEXTS)
