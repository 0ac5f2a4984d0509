"""Claims about 200 abstracts of SciFact, written from the need, with sight of the abstract and without.

    python -m benchmarks.questions.write SCIFACT

SCIFACT is BEIR's folder. Requests to `file:claude-a` are written to results/benchmarks/questions/requests, step by step
(needs, blind, evidence), and the command ends with status 3 until all replies of a step are there:
`python -m benchmarks.judges.take_replies questions FILE …` takes them in. With all of them it writes
results/benchmarks/questions/QUESTIONS.jsonl, which `python -m benchmarks.question_worth SCIFACT QUESTIONS.jsonl` reads,
and rejected.jsonl. The two ways (`metadata.kind` "need" and "blind") are written for every need, so that each share of
the two can be measured. The experts are eight claims that SciFact's test set does not have.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.judges.take_replies import REQUESTS_PER_FILE, WORK, awaited, open_caller
from ragassay.calls.caller import Caller
from ragassay.errors import RagassayError, RepliesMissing
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_qrels, read_records, write_records
from ragassay.records import Passage, Query, Rejected, Section
from ragassay.synth.questions.need_writer import ask_blind, ask_evidence, ask_needs, faulted
from ragassay.synth.questions.own import ExpertQuestion
from ragassay.synth.questions.reject import clean
from ragassay.synth.questions.slots import Asker, Draft, Setup, assign

NAME = "questions"
MODEL = "file:claude-a"
N_ABSTRACTS = 200
N_EXPERTS = 8
SEED = 7


def workspace(work: Path = WORK) -> Workspace:
    """Where requests are written. Every question is of one kind, since SciFact's people ask for one thing: a claim."""
    experiment = Experiment.model_validate(
        {
            "questions": {
                "sections": N_ABSTRACTS,
                "per_section": 1,
                "few_shot": 3,
                "seed": SEED,
                "quota": {MODEL: N_ABSTRACTS},
                "blind": 1.0,
                "kinds": {"fact": 1.0},
            },
            "answer": {"model": MODEL},
            "judge": {"model": MODEL},
            "models": {MODEL: {"requests_per_file": REQUESTS_PER_FILE}},
        }
    )
    return Workspace(work / NAME, work / NAME, experiment)


def experts(scifact: Path) -> list[ExpertQuestion]:
    """Claims that were judged for training, and so take no part in any comparison on the test set."""
    judged = read_qrels(scifact / "qrels" / "train.tsv").keys() - read_qrels(scifact / "qrels" / "test.tsv").keys()
    texts = {query.id: query.text for query in read_records(scifact / "queries.jsonl", Query)}
    drawn = random.Random(f"{SEED}:experts").sample(sorted(judged & texts.keys()), N_EXPERTS)
    return [ExpertQuestion(texts[query], "", line) for line, query in enumerate(drawn, 1)]


def abstracts(scifact: Path) -> list[Section]:
    """A sample of the corpus, title and text together."""
    passages = sorted(read_records(scifact / "corpus.jsonl", Passage), key=lambda passage: passage.id)
    drawn = random.Random(f"{SEED}:abstracts").sample(passages, N_ABSTRACTS)
    texts = {passage.id: f"{passage.title}\n{passage.text}" for passage in drawn}
    return [
        Section(id=doc, doc=doc, first_page=1, last_page=1, start=0, end=len(text), text=text)
        for doc, text in texts.items()
    ]


def write(scifact: Path, home: Workspace, caller: Caller) -> list[Draft]:
    """Both questions of every need, those with sight first. Raises RepliesMissing until all replies are there."""
    setup = Setup.load(home, experts(scifact))
    assignments = assign(home.experiment.questions, abstracts(scifact), {}, ())
    asker = Asker(caller, list(home.experiment.questions.quota))
    sighted, _ = ask_needs(setup, assignments, asker)
    blind = ask_blind(setup, sighted, asker)
    seen = [replace(draft, slot=replace(draft.slot, blind=False)) for draft in sighted if draft.slot]
    both = [faulted(draft, statements=True) for draft in (*seen, *blind)]
    return ask_evidence(setup, both, {}, asker)


def questions(drafts: Sequence[Draft]) -> tuple[list[Query], list[Rejected]]:
    """Those with evidence, in the form that `benchmarks.question_worth` reads, and the others with the reason."""
    kept, rejected = [], []
    for draft in drafts:
        kind = "blind" if draft.slot and draft.slot.blind else "need"
        doc = draft.sections[0].doc
        metadata = draft.candidate(statements=True).metadata | {"kind": kind, "passage": doc}
        if draft.fault:
            rejected.append(Rejected(text=draft.question, metadata=metadata, reason=draft.fault))
        else:
            kept.append(Query(id=f"{doc}-{kind}", text=clean(draft.question), metadata=metadata))
    return kept, rejected


def main(scifact: Path) -> int:
    """Write the requests of the next step, or the questions; 3 while replies are missing, 2 for what cannot be used."""
    home = workspace()
    try:
        kept, rejected = questions(write(scifact, home, open_caller(home)))
    except RepliesMissing as missing:
        print(awaited(NAME, "the next step", missing), file=sys.stderr)
        return missing.exit_status
    except RagassayError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    write_records(home.results / "QUESTIONS.jsonl", kept)
    write_records(home.rejected, rejected)
    print("| kind | kept | rejected, by reason |\n|---|--:|---|")
    for kind in ("need", "blind"):
        reasons = Counter(one.reason.split(":")[0] for one in rejected if one.metadata["kind"] == kind)
        told = "; ".join(f"{n} {reason}" for reason, n in reasons.most_common())
        print(f"| {kind} | {sum(query.metadata['kind'] == kind for query in kept)} | {told} |")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
