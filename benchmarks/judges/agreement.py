"""Agreement on published labels, by `evaluate.agreement`, beside the figures published or recomputed elsewhere.

    python -m benchmarks.judges.agreement DATA

DATA holds `nq301` (castorini/qa-eval, MIT) and `llmbar` (princeton-nlp/LLMBar, MIT), each with its SOURCE.md.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragassay.evaluate.agreement.agree import PairAgreement, agree
from ragassay.evaluate.agreement.label_tables import LabelTable, ratings
from ragassay.records import Figure

NQ301 = (
    ("people", "GPT-4", "gpt-4", "0.694", "0.848"),
    ("people", "InstructGPT", "text-davinci-003", "0.673", "0.837"),
    ("annotator1", "annotator2", None, "0.735", "–"),
)
"""human, judge, the judge's file, kappa and agreement as nq301/SOURCE.md has them."""
LLMBAR = ("Natural", "Neighbor", "GPTInst", "GPTOut", "Manual")


def pair(name: str, columns: dict[str, Sequence[str]], by: Sequence[str], relevant: str) -> PairAgreement:
    """The second column against the first; rows are clustered by `by`."""
    human, judge = columns
    cells = zip(by, *columns.values(), strict=True)
    rows = tuple((line, dict(zip(("query_id", *columns), row, strict=True))) for line, row in enumerate(cells, 2))
    table = LabelTable(name, ("query_id", *columns), rows)
    return agree(ratings(table, [human, judge], "query_id"), relevant=relevant).pairs[0]


def shown(figure: Figure) -> str:
    """`0.694 [0.645, 0.740]`"""
    if figure.value is None:
        return "undefined"
    return f"{figure.value:.4f}" + ("" if figure.ci_low is None else f" [{figure.ci_low:.3f}, {figure.ci_high:.3f}]")


def nq301(folder: Path) -> Iterator[str]:
    """Kappa and agreement on answers to 301 questions; queries are what is resampled.

    SOURCE.md's figures come back over the distinct (question, answer) that both files spell alike, quotation marks and
    all, a verdict being a reply that begins with yes or no. "all rows" are the files' own verdicts, row by row.
    """
    people = read_tsv(folder / "NQ301_human.tsv")
    by = [row["id"] for row in people]
    for human, judge, file, kappa, agreement in NQ301:
        if file is None:
            found = pair("nq301", {name: [row[name] for row in people] for name in (human, judge)}, by, "Yes")
            yield line("nq301", f"{judge} against {human}", found, "kappa", kappa)
            continue
        rows = read_tsv(folder / f"NQ301_{file}.tsv")
        begun = {key(row): yes_or_no(row[file]) for row in rows}
        distinct = {key(row): row["Acceptable?"] for row in people}
        joined = {human: list(distinct.values()), judge: [begun.get(item, "") for item in distinct]}
        found = pair("nq301", joined, [question for question, _ in distinct], "Yes")
        yield line("nq301", f"{judge} against {human}, distinct", found, "kappa", kappa)
        yield line("nq301", f"{judge} against {human}, distinct", found, "agreement", agreement)
        whole = {human: [row["Acceptable?"] for row in people], judge: [row["Acceptable?"] for row in rows]}
        found = pair("nq301", whole, by, "Yes")
        for name in ("kappa", "agreement"):
            yield line("nq301", f"{judge} against {human}, all rows", found, name, "–")


def key(row: dict[str, str]) -> tuple[str, str]:
    """The question's number and the answer."""
    return row["id"], row["Model answer"]


def yes_or_no(reply: str) -> str:
    """The verdict a reply begins with; empty where it begins otherwise."""
    return next((word for word in ("Yes", "No") if reply.lower().startswith(word.lower())), "")


def read_tsv(path: Path) -> list[dict[str, str]]:
    """The rows by the header's names, quotation marks left as they are."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def llmbar(folder: Path) -> Iterator[str]:
    """GPT-4's verdicts: right in both orders' mean, and one order against the other, beside statistics.json."""
    for part in LLMBAR:
        rows = json.loads((folder / f"{part}.GPT-4.Vanilla.result.json").read_text(encoding="utf-8"))
        theirs = json.loads((folder / f"{part}.GPT-4.Vanilla.statistics.json").read_text(encoding="utf-8"))
        label = [str(row["label"]) for row in rows]
        orders = [[row["results"][0][f"swap = {swap}"]["winner"] for row in rows] for swap in (False, True)]
        by = [str(number) for number, _ in enumerate(rows)]
        both = {"label": label * 2, "GPT-4": orders[0] + orders[1]}
        found = pair("llmbar", both, by * 2, "1")
        published = theirs["correct_average"].rstrip("%")
        yield line(
            f"llmbar {part}", "GPT-4, both orders, against the label", found, "agreement", f"{float(published):.2f}%"
        )
        swapped = pair("llmbar", {"one order": orders[0], "the other": orders[1]}, by, "1")
        equal = theirs["equal"].split("= ")[1].rstrip("%")
        yield line(f"llmbar {part}", "GPT-4, one order against the other", swapped, "agreement", f"{float(equal):.2f}%")
        published = f"{theirs['kappa_agreement']:.4f}"
        yield line(f"llmbar {part}", "GPT-4, one order against the other", swapped, "kappa", published)


def line(data: str, who: str, found: PairAgreement, name: str, published: str) -> str:
    """One row of the table."""
    counts = f"{found.n_pairs:,} | {found.n_missing} | {found.n_clusters}"
    return f"| {data} | {who} | {name} | {shown(found.figures[name])} | {published} | {counts} |"


def main(folder: Path) -> None:
    """Print the table."""
    print("| data | who | figure | here | there | pairs | lacking a label | queries |")
    print("|---|---|---|---|---|---|---|---|")
    for row in (*nq301(folder / "nq301"), *llmbar(folder / "llmbar")):
        print(row)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
