"""`make bench`: run the benchmarks and keep what each prints, with its command and machine, in benchmarks/results/.

    python -m benchmarks [NAME …]
    python -m benchmarks aims       writes benchmarks/results.md from the `aim:` lines of the results files
    python -m benchmarks stale      lists the results files whose code has changed since; status 1 where there are any

NAME is a room and a module, such as speed.elo. Without names, all that can be run here. retrieval.scifact and
speed.bm25 read BEIR's SciFact, which is not in the repository: SCIFACT=PATH names its folder. judges.agreement reads
nq301 and llmbar in DATA=PATH, judges.nugget_scores rag24_nugget_llm there, judges.meta_evaluation factcheckgpt,
scifact, nq301 and paper_tables, judges.together_people nq301 and llmbar, question_worth scifact and scifact_claims.
judges.injection, judges.injection_lists and judges.together_demo read results/avr-libc-pairs, which
`ragassay run benchmarks/replies/avr-libc-pairs` makes; judges.pairs_demo, judges.planted_faults and
judges.fresh_faults read results/avr-libc (`make demo`), the latter two also two packages of Debian's, unpacked in
MANUALS=PATH; judges.detection reads nq301 and factcheckgpt in DATA.
retrieval.opensearch_scifact and retrieval.opensearch_variants also need a server, OPENSEARCH_URL.
speed.million_passages runs where MILLION=1.
speed.screening screens DATA/pdfs/debian-reference.en.pdf beside the demo's manual, speed.embedding embeds SciFact.
workbench.placed reads the PDFs of DATA/pdfs, or else those of corpora/.
speed.pdf_reading reads the PDFs of PDFS="a.pdf b.pdf", or else those of corpora/. RAGELO_PYTHON names a Python with
RAGElo.
Exit status 1 where a benchmark fails; what it printed before is then left as it was.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from benchmarks.made_by import stale
from benchmarks.runner import Benchmark, run
from benchmarks.speed.aims import RESULTS, write_table

REPLIES = Path(__file__).with_name("replies")
MANUALS = ("corpora/avr-libc/avr-libc-user-manual.pdf", "corpora/r/R-admin.pdf", "corpora/r/R-intro.pdf")


_MILLION = "MILLION=1 (a quarter of an hour, 4 GB)"


def benchmarks(scifact: str, pdfs: str, data: str = "") -> list[Benchmark]:
    """All of them; `scifact` and `data` are folders, `pdfs` paths as in a shell, each may be empty."""
    beir, lacks = ((scifact,), None) if scifact else ((), "SCIFACT=PATH (BEIR's folder)")
    server = (url,) if (url := os.environ.get("OPENSEARCH_URL", "")) else ()
    nuggets = (f"{data.rstrip('/')}/rag24_nugget_llm",) if data else ()
    return [
        Benchmark("speed.elo"),
        Benchmark("speed.ratings"),
        Benchmark("speed.judging"),
        Benchmark("speed.relevance"),
        Benchmark("speed.command"),
        Benchmark("speed.compare"),
        Benchmark("speed.agree"),
        Benchmark("speed.workbench"),
        Benchmark("speed.screening", (MANUALS[0], *_pdfs_of(data))),
        Benchmark("speed.embedding", (*beir, "512"), lacks),
        Benchmark("speed.soak"),
        Benchmark("speed.pdf_reading", tuple(shlex.split(pdfs)) or MANUALS),
        Benchmark("workbench.placed", tuple(_all_pdfs_of(data)) or MANUALS),
        Benchmark("planted"),
        Benchmark("tables.plan_example"),
        Benchmark("tables.screening"),
        Benchmark("tables.plan_accuracy", ("corpora/avr-libc", *_recorded_runs())),
        Benchmark("speed.bm25", beir, lacks),
        Benchmark("retrieval.scifact", beir, lacks),
        Benchmark("retrieval.lucene_bm25", (*beir, *server), lacks),
        *_of_data(data, {"conversations": "mtrag_un_govt", "tool_calls": "tau_airline"}),
        Benchmark("retrieval.turns"),
        _opensearch("scifact", scifact),
        _opensearch("variants", scifact),
        _question_worth(data.rstrip("/")),
        Benchmark("speed.million_passages", (), None if os.environ.get("MILLION") else _MILLION),
        Benchmark("judges.nugget_scores", nuggets, None if data else "DATA=PATH (the folder of rag24_nugget_llm)"),
        Benchmark("judges.meta_evaluation", (data,) if data else (), _unrecorded("meta_evaluation", data)),
        Benchmark("judges.without_a_model"),
        *_planted_faults(),
        Benchmark("judges.detection", (data,) if data else (), None if data else "DATA=PATH (nq301 and factcheckgpt)"),
        Benchmark("judges.injection", (), _unrecorded("injection")),
        Benchmark("judges.injection_lists", (), _unrecorded("injection_lists")),
        Benchmark("judges.together_demo", (), _unrecorded("together_demo")),
        Benchmark("judges.pairs_demo", (), _unrecorded("pairs_demo")),
        Benchmark("judges.together_people", (data,) if data else (), _unrecorded("together_people", data)),
        Benchmark("questions.check_bars", beir, lacks),
        Benchmark("questions.conversations"),
        Benchmark("questions.write", beir, lacks or _unrecorded("questions")),
        Benchmark("questions.worth", beir, lacks or _unrecorded("questions")),
        Benchmark("questions.quotes", beir, lacks or _unrecorded("questions")),
        Benchmark(
            "judges.agreement", (data,) if data else (), None if data else "DATA=PATH (the folder of nq301 and llmbar)"
        ),
    ]


def _planted_faults() -> list[Benchmark]:
    manuals = os.environ.get("MANUALS", "")
    lacks = None if manuals else "MANUALS=PATH (Debian's debian-handbook and gnome-user-docs, unpacked)"
    paths = ("results/avr-libc", manuals) if manuals else ()
    return [Benchmark(f"judges.{name}", paths, lacks) for name in ("planted_faults", "fresh_faults")]


def _all_pdfs_of(data: str) -> list[str]:
    return sorted(map(str, Path(data).glob("pdfs/*.pdf"))) if data else []


def _pdfs_of(data: str) -> list[str]:
    """What is screened beside the demo's manual."""
    return [f"{data.rstrip('/')}/pdfs/debian-reference.en.pdf"] if data else []


def _recorded_runs() -> list[str]:
    """The corpus folders among the recorded replies."""
    return sorted(str(path.parent.relative_to(REPLIES.parents[1])) for path in REPLIES.glob("*/experiment.toml"))


def _of_data(data: str, folders: dict[str, str]) -> list[Benchmark]:
    lacks = None if data else "DATA=PATH (../shared/data)"
    return [Benchmark(f"retrieval.{name}", (f"{data.rstrip('/')}/{one}",), lacks) for name, one in folders.items()]


def _opensearch(name: str, scifact: str) -> Benchmark:
    url = os.environ.get("OPENSEARCH_URL", "")
    lacks = None if scifact and url else "SCIFACT=PATH (BEIR's folder) and OPENSEARCH_URL"
    return Benchmark(f"retrieval.opensearch_{name}", (scifact, url) if lacks is None else (), lacks)


def _question_worth(data: str) -> Benchmark:
    paths = (f"{data}/scifact", f"{data}/scifact_claims/claims.jsonl") if data else ()
    return Benchmark("question_worth", paths, None if data else "DATA=PATH (the folder of scifact and scifact_claims)")


def _unrecorded(name: str, data: str | None = None) -> str | None:
    """What a benchmark of recorded replies lacks, None where nothing; `data` is the folder of its sets, if it has."""
    if data == "":
        return "DATA=PATH (the folder of factcheckgpt, scifact, nq301, llmbar and paper_tables)"
    if not (REPLIES / f"{name}.jsonl.gz").exists():
        return f"the replies to its requests, with `python -m benchmarks.judges.take_replies {name} FILE`"
    return None


def main(names: list[str]) -> int:
    """Run those named, or all; 2 for a name that does not exist or a path that is not given."""
    if names == ["aims"]:
        write_table()
        return 0
    if names == ["stale"]:
        found = stale(RESULTS)
        for file, problem in found.items():
            print(f"{file}: {problem}")
        return 1 if found else 0
    given = [os.environ.get(name, "") for name in ("SCIFACT", "PDFS", "DATA")]
    known = {b.name: b for b in benchmarks(*given)}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"there is no benchmark '{unknown[0]}'; there are {', '.join(known)}")
    chosen = [known[name] for name in names or known]
    for benchmark in chosen:
        if benchmark.lacks:
            print(f"== {benchmark.name} is left out: give {benchmark.lacks}", flush=True)
    failed = [benchmark.name for benchmark in chosen if not benchmark.lacks and not run(benchmark)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 2 if names and any(benchmark.lacks for benchmark in chosen) else 0


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
