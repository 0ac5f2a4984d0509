"""The questions stage: several models write about sampled sections, and the test set is drawn from what is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

from ragassay.calls.caller import Caller
from ragassay.errors import MissingExtra, NothingCame
from ragassay.evidence import in_several_places, read_evidence
from ragassay.experiment.reading import check_by_look
from ragassay.experiment.settings import Experiment
from ragassay.experiment.tables import UNDERSPECIFIED, QuestionsSettings
from ragassay.experiment.workspace import Edit, Part, StageOutcome, Workspace, id_of_rejected, read_edits
from ragassay.files import read_records, write_json, write_records
from ragassay.layouts.questions import question_files
from ragassay.prompts import Prompt
from ragassay.records import Found, Query, Rejected, Section, originals
from ragassay.text import one_line, plain, some_of

from .looks import check_written, is_told_apart
from .questions import DEFAULT_PROMPT
from .questions.choose import Choice, choose_looking
from .questions.conversations import sample_turns, write_conversations
from .questions.find import RELEVANT, Evidence, Finder
from .questions.from_passages import Quoted, ask_quotes, write_from_passages
from .questions.need_writer import write_from_needs
from .questions.own import ExpertQuestion, read_expert_questions, read_keep, read_test_set, same_text
from .questions.parts import Made, parts_of, settings_of, together, without_repeated
from .questions.quotas import sample_queries
from .questions.reject import Embed, Meanings, Sifted, clean, compared_texts, fault_in_writing, sift
from .questions.slots import Calls, Setup


@dataclass(frozen=True)
class Edits:
    """What people decided about questions: question id to the decision that counts.

    Rejected ones leave before the set is drawn, so that others of the pool take their place. Edited ones get their text
    after it was drawn, so that an edit changes nothing among the rest; they keep id and evidence. What the rules
    rejected and a person accepts joins the set behind what was drawn, beyond the quotas, so that it changes nothing
    either.
    """

    by_id: Mapping[str, Edit]

    def without_rejected(self, queries: Iterable[Query]) -> list[Query]:
        """Those that nobody rejected."""
        return [query for query in queries if self._action(query) != "reject"]

    def sifted(self, sifted: Sifted) -> Sifted:
        """The pool without what was rejected by hand, which joins the rejected."""
        rejected = list(sifted.rejected)
        for query in sifted.kept:
            if self._action(query) == "reject":
                who = one_line(self.by_id[query.id].person)
                reason = f"rejected by hand, by {who}" if who else "rejected by hand"
                rejected.append(_rejected(query, reason, {"id": query.id}))
        return Sifted(tuple(self.without_rejected(sifted.kept)), tuple(rejected))

    def taken_in(self, sifted: Sifted) -> tuple[Sifted, list[Query]]:
        """What the rules rejected and a person accepted or edited, each once, and `sifted` without it.

        `metadata.rejected_for` says why the rules had rejected it. A text that no query can have is not taken in.
        """
        found: dict[str, Query] = {}
        left: list[Rejected] = []
        for one in sifted.rejected:
            query = self._taken(one)
            if query is None or query.id in found:
                left.append(one)
            else:
                found[query.id] = query
        return replace(sifted, rejected=tuple(left)), list(found.values())

    def accepts(self, query: Query) -> bool:
        """Whether a person takes it in if nothing answers it, as an earlier run had found and this one may not ask."""
        one = self.by_id.get(id_of_rejected(str(query.text), query.metadata))
        return one is not None and one.action != "reject"

    def edited(self, queries: Iterable[Query]) -> list[Query]:
        """With the texts that people gave, `metadata.edited_from` the one before."""
        made = []
        for query in queries:
            one = self.by_id.get(query.id)
            if one and one.action == "edit" and one.text is not None and one.text != str(query.text):
                alone = {"stand_alone": one.text} if "stand_alone" in query.metadata and not query.history else {}
                metadata = {**query.metadata, **alone, "edited_from": str(query.text)}
                query = Query(id=query.id, text=one.text, metadata=metadata, history=query.history)
            made.append(query)
        return made

    def notices(self, *known: Sequence[Query]) -> list[str]:
        """A sentence on edits whose question is in none of `known`: they change nothing. One on what was taken in."""
        there = {query.id: query for queries in known for query in queries}
        expected = {id for id, one in self.by_id.items() if one.action == "edit"}
        expected |= {id for id, one in self.by_id.items() if one.action == "accept" and id.startswith("r-")}
        notices = []
        if lost := sorted(expected - there.keys()):
            n = "1 question that is" if len(lost) == 1 else f"{len(lost):,} questions that are"
            notices.append(f"question-edits.jsonl edits or takes in {n} not there ({some_of(map(one_line, lost))})")
        if taken := sum("rejected_for" in query.metadata for query in there.values()):
            n = "1 question that the rules had rejected is"
            n = n if taken == 1 else f"{taken:,} questions that the rules had rejected are"
            notices.append(f"{n} in the test set by hand, beyond the quotas")
        return notices

    def _taken(self, one: Rejected) -> Query | None:
        id, text = id_of_rejected(one.text, one.metadata), clean(one.text)
        decided = self.by_id.get(id)
        if decided is None or decided.action == "reject" or one.metadata.get("id"):
            return None
        if decided.action == "accept" and fault_in_writing(text):
            return None
        return Query(id=id, text=text, metadata={**one.metadata, "rejected_for": one.reason}, history=one.history)

    def _action(self, query: Query) -> str | None:
        one = self.by_id.get(query.id)
        return one.action if one else None


def _rejected(query: Query, reason: str, more: Mapping[str, str] | None = None) -> Rejected:
    metadata = {**query.metadata, **(more or {})}
    return Rejected(text=str(query.text), metadata=metadata, reason=reason, history=query.history)


def make_questions(
    workspace: Workspace,
    caller: Caller,
    embed: Embed | None = None,
    finder: Finder | None = None,
    goes_on: Callable[[], bool] = lambda: False,
) -> StageOutcome:
    """Write `pool.jsonl`, `rejected.jsonl`, `ledger.jsonl`, `queries.jsonl`, and `questions-check.json` of chosen ones.

    With `questions.style` "need" the test set is chosen out of what was written (`choose`); `embed` then tells
    near-duplicates by meaning, which without it are told by their words alone. Roles written from the corpus are in
    `roles.jsonl`. With "conversations" queries are turns, each with what was said before.
    With `questions.quotes` or `golden_answers` the finder's passages are asked about, those of the test set alone.
    `questions.source` says where the test set comes from: "synthetic" has the models write, "own" takes the user's
    `queries.jsonl` as it is, "both" puts these first and the synthetic ones behind them. With `run.write_by_look` the
    questions of one look are written after the other, each by itself, as long as it `goes_on`; `parts.jsonl` says which
    they are. Exit status 1 where the set is smaller than asked, which is then the first notice. Raises InputError for
    what the user can mend, and NothingCame, after the files are written, where there is not a single query.
    """
    check_by_look(workspace)
    source, edits = workspace.experiment.questions.source, Edits(read_edits(workspace.question_edits))
    own, said = _own(workspace) if source != "synthetic" else ([], [])
    experts: Sequence[ExpertQuestion] = ()
    parts, sections = list[Part](), list[Section]()
    if source != "own":
        few_shot = workspace.experiment.questions.few_shot
        experts = read_expert_questions(workspace.expert_questions, needed=few_shot > 0)
        sections = read_records(workspace.sections, Section)
        parts = parts_of(workspace, sections, len(own))
    looked = _Looked(finder, edits)
    own = looked.at_own(own)
    kept, written = edits.without_rejected(own), list[Made]()
    for part in _make(workspace, caller, embed, experts, sections, own, looked, parts):
        written.append(without_repeated(part, written))
        if workspace.experiment.by_look:
            _write_parts(workspace, parts, written, kept, edits)
            if not (part.sampled or part.taken):
                raise NothingCame(f"look {len(written)}: {_nothing(part)}")
            if not goes_on():
                break
    made = _checked(workspace, together(written), experts) if written else Made()
    queries = looked.quoted(edits.edited([*kept, *made.sampled, *made.taken]), workspace.experiment, caller)
    _write(workspace, made, queries, edits)
    looked.write(workspace.found)
    if not queries:
        raise NothingCame(_nothing(made))
    n_drawn = len(queries) - len(made.taken)
    short = _shortage(parts[: len(written)], made, n_drawn, len(kept)) if source != "own" else None
    notices = _notices(workspace, made, experts, sections) if source != "own" else []
    return StageOutcome(
        notices=(
            *([short] if short else []),
            *notices,
            *said,
            *looked.notices(),
            *edits.notices(queries, made.sifted.kept),
        ),
        exit_status=1 if short else 0,
        n_records=len(queries),
        n_failed=sum(len(calls.errors) for calls in made.written.calls) + looked.n_failed,
    )


def _own(workspace: Workspace) -> tuple[list[Query], list[str]]:
    """The user's queries, whose evidence is looked up before a model is asked, and what is to be said of them."""
    read = read_test_set(workspace)
    queries, told = list(read.queries), [*([read.told] if read.told else []), *same_text(originals(read.queries))]
    if not workspace.own_queries.exists():
        return queries, told
    read_evidence(workspace.own_queries, workspace.pages, workspace.passages)
    return queries, [*told, *in_several_places(workspace.own_queries, workspace.pages)]


@dataclass
class _Looked:
    """What was found in all passages for questions; nothing without a finder.

    rows: of `found.jsonl`. found: what a query's evidence is made of, by its id and section, since two parts may have
    the very same question, of one section each. A person's question is never rejected for what was not found, nor is
    one of people's evidence looked up again; what rules say of a written one is said of its text as it will be asked.
    """

    finder: Finder | None
    edits: Edits
    rows: list[Found] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    kept_anyway: list[str] = field(default_factory=list)
    n_own: int = 0
    found: dict[tuple[str, object], Evidence] = field(default_factory=dict)
    asked: Quoted = Quoted(())

    def at_own(self, queries: Sequence[Query]) -> list[Query]:
        """The queries with what was found for those that bring no evidence."""
        if self.finder is None:
            return list(queries)
        bare = [query for query in queries if not query.metadata.get("evidence")]
        found = self._find(bare, ())
        self.n_own, self.unanswered = len(bare), [id for id, one in found.items() if one.best < RELEVANT]
        return [self.finder.with_evidence(one, found[one.id]) if one.id in found else one for one in queries]

    def at_written(self, sifted: Sifted, sections: Sequence[Section], keep: Collection[str] = ()) -> Sifted:
        """Those that something answers with their evidence; the others join the rejected, with the reason, but those
        that somebody wants to `keep`.
        """
        if self.finder is None:
            return sifted
        found = self._find([one for one in sifted.kept if one.metadata.get("move") != UNDERSPECIFIED], sections)
        kept, rejected = [], list(sifted.rejected)
        for query in sifted.kept:
            if query.id not in found:
                kept.append(query)
                continue
            fault = found[query.id].fault(str(query.metadata.get("kind", "")))
            if fault is None or query.id in keep:
                self.kept_anyway += [query.id] if fault else []
                kept.append(self.finder.with_evidence(query, found[query.id]))
            else:
                rejected.append(_rejected(query, fault))
        return Sifted(tuple(kept), tuple(rejected))

    def at_some(self, pool: Sifted, ids: Collection[str], sections: Sequence[Section], keep: Collection[str]) -> Sifted:
        """The pool, in its order, with what is found for these, as `at_written` has it."""
        wanted = tuple(query for query in pool.kept if query.id in ids)
        some = self.at_written(replace(pool, kept=wanted), sections, keep)
        known = {query.id: query for query in some.kept}
        kept = (known.get(query.id, query) for query in pool.kept if query.id in known or query.id not in ids)
        return replace(some, kept=tuple(kept))

    def quoted(self, queries: list[Query], experiment: Experiment, caller: Caller) -> list[Query]:
        """The queries of the test set with quotes and golden answers, where the settings want any."""
        settings, finder = experiment.questions, self.finder
        if finder is None or not (settings.quotes or settings.golden_answers):
            return queries
        found = [(one, self.found.get((one.id, one.metadata.get("section")))) for one in queries]
        given = [(one, finder.passages_of(evidence) if evidence else ()) for one, evidence in found]
        self.asked = ask_quotes(experiment, given, caller)
        return list(self.asked.queries)

    def _find(self, queries: Sequence[Query], sections: Sequence[Section]) -> Mapping[str, Evidence]:
        assert self.finder is not None
        rows, found = self.finder.find(self.edits.edited(queries), sections)
        known = {row.query_id for row in self.rows}
        self.rows += [row for row in rows if row.query_id not in known]
        self.found |= {(one.id, one.metadata.get("section")): found[one.id] for one in queries}
        return found

    @property
    def n_failed(self) -> int:
        """Passages that a judge could not grade, and requests about them that gave no reply."""
        return self.n_ungraded + len(self.asked.errors)

    @property
    def n_ungraded(self) -> int:
        """Passages that a judge could not grade."""
        return sum(row.error is not None for row in self.rows)

    def notices(self) -> list[str]:
        """Sentences on gradings that failed, and on people's questions for which nothing was found."""
        told = []
        if self.n_ungraded:
            first = next(row.error for row in self.rows if row.error is not None)
            n = f"{self.n_ungraded} of {len(self.rows)} passages"
            told.append(f"{n} could not be graded, the first: {plain(first)}")
        if self.kept_anyway:
            named = some_of(map(plain, self.kept_anyway))
            told.append(f"questions.keep has {len(self.kept_anyway)} that no passage answers ({named})")
        if self.unanswered:
            n = f"{len(self.unanswered)} of the {self.n_own} questions that came without evidence"
            told.append(f"for {n} no passage was found that answers them ({some_of(map(plain, self.unanswered))})")
        return [*told, *self.asked.notices()]

    def write(self, path: Path) -> None:
        """The file is there only where something was looked for."""
        if self.finder is None:
            path.unlink(missing_ok=True)
        else:
            write_records(path, self.rows)


def _make(
    workspace: Workspace,
    caller: Caller,
    embed: Embed | None,
    experts: Sequence[ExpertQuestion],
    all_sections: Sequence[Section],
    own: Sequence[Query],
    looked: _Looked,
    parts: Sequence[Part],
) -> Iterator[Made]:
    """What is made of each part, one after the other as they are wanted; none knows of another."""
    if not parts:
        return
    experiment, whole = workspace.experiment, workspace.experiment.questions
    language = experiment.corpus.language
    part_of = {id: at for at, part in enumerate(parts) for id in part.sections}
    sections = [section for section in all_sections if section.id in part_of]
    if whole.style == "need":
        divided_up = [part.sections for part in parts]
        writing = write_from_needs(Setup.load(workspace, experts), sections, all_sections, caller, divided_up)
    elif whole.style == "conversations":
        writing = iter([write_conversations(Setup.load(workspace, experts), sections, all_sections, caller)])
    else:
        prompt = Prompt.load(workspace.prompt_file(whole.prompt, DEFAULT_PROMPT))
        about = [[section for section in sections if part_of[section.id] == at] for at, _ in enumerate(parts)]
        writing = (write_from_passages(experiment, prompt, some, experts, caller) for some in about)
    for settings in settings_of(whole, parts):
        written, meanings, notices = next(writing), None, list[str]()
        if whole.style == "need":
            meanings, notices = _meanings(embed, compared_texts(written.candidates, experts, own))
        most = whole.per_section if whole.style == "passage" else None
        sifted = sift(
            written.candidates, experts, own, per_section=most, language=language, seed=whole.seed, meanings=meanings
        )
        pool = looked.edits.sifted(sifted)
        sampled: Sequence[Query]
        if whole.style == "need":
            keep = read_keep(workspace.corpus / whole.keep) if whole.keep else ()
            choice, pool = _choose(pool, settings, keep, looked, all_sections)
            sampled, notices = choice.queries, [*notices, *choice.notices]
        else:
            pool = looked.at_written(pool, all_sections)
            sample = sample_turns if whole.style == "conversations" else sample_queries
            sampled = sample(pool.kept, settings.quota, whole.seed)
        pool, taken = looked.edits.taken_in(pool)
        yield Made(written, pool, sampled, taken, notices)


def _choose(
    pool: Sifted, settings: QuestionsSettings, keep: Sequence[str], looked: _Looked, sections: Sequence[Section]
) -> tuple[Choice, Sifted]:
    """The choice, of questions that something answers; and the pool as it is then known."""
    seen = set[str]()

    def look(ids: Collection[str]) -> Sequence[Query]:
        nonlocal pool
        pool = looked.at_some(pool, ids, sections, keep)
        seen.update(ids)
        return pool.kept

    choice = choose_looking(look, settings, keep)
    look({query.id for query in pool.kept if looked.edits.accepts(query)} - seen)
    return choice, pool


def _checked(workspace: Workspace, made: Made, experts: Sequence[ExpertQuestion]) -> Made:
    """With what is to be said of the questions, where they were chosen."""
    if workspace.experiment.questions.style != "need":
        return made
    check = check_written(workspace, [one.text for one in experts], [query.text for query in made.sampled])
    said = [check.said] if check.said and is_told_apart(check) else []
    return replace(made, check=check, notices=(*made.notices, *said))


def _meanings(embed: Embed | None, texts: Sequence[str]) -> tuple[Meanings | None, list[str]]:
    """What near-duplicates are told by besides their words, or the sentence that says why there is nothing."""
    alone = "near-duplicates were found by their words alone, not by meaning"
    if embed is None:
        return None, [f"{alone}: no retriever of the experiment embeds"]
    try:
        return Meanings.of(embed, texts), []
    except MissingExtra:
        return None, [f"{alone}: the embedding needs the extra 'local' (`pip install \"ragassay[local]\"`)"]


def _write_parts(
    workspace: Workspace, parts: Sequence[Part], written: Sequence[Made], own: Sequence[Query], edits: Edits
) -> None:
    """The test set as far as it is written, and of which look each question is: what says whether another follows."""
    drawn = [[*one.sampled, *one.taken] for one in written]
    write_records(workspace.test_set, edits.edited([*own, *(query for some in drawn for query in some)]))
    ids = [tuple(query.id for query in some) for some in drawn]
    known = zip_longest(parts, ids)
    write_records(workspace.parts, [part.model_copy(update={"queries": some}) for part, some in known])


def _write(workspace: Workspace, made: Made, queries: Sequence[Query], edits: Edits) -> None:
    asked = {query.id: query for query in queries}
    pool = {query.id: query for query in edits.edited([*made.sifted.kept, *made.taken])}
    write_records(workspace.pool, [asked.get(id, query) for id, query in pool.items()])
    write_records(workspace.rejected, made.sifted.rejected)
    write_records(workspace.ledger, made.rows)
    write_records(workspace.test_set, queries)
    if workspace.test_set == workspace.queries:  # no plan of looks is behind them any more
        for path in (workspace.planned, workspace.look, workspace.not_asked):
            path.unlink(missing_ok=True)
    if not workspace.experiment.by_look:
        workspace.parts.unlink(missing_ok=True)
    if made.check:
        write_json(workspace.questions_check, made.check.dump())
    else:
        workspace.questions_check.unlink(missing_ok=True)
    if made.written.roles:
        write_records(workspace.roles, made.written.roles)
    else:
        workspace.roles.unlink(missing_ok=True)


def _shortage(parts: Sequence[Part], made: Made, n: int, n_own: int) -> str | None:
    """The sentence for a test set that is smaller than asked: of each model that fell short, what became of it."""
    quota = Counter[str]()
    for part in parts:
        quota.update(part.quota)
    wanted = n_own + sum(quota.values())
    if n >= wanted:
        return None
    kept = Counter(query.metadata["model"] for query in made.sifted.kept)
    wrote = Counter[str]()
    for row in made.rows:
        wrote[row.model] += row.written
    causes = [
        f"{model} wrote {wrote[model]}, kept {kept[model]} of the {asked} wanted"
        for model, asked in quota.items()
        if kept[model] < asked
    ]
    return f"the test set has {n} queries, {wanted} were asked for: {'; '.join(causes)}"


def _notices(
    workspace: Workspace, made: Made, experts: Sequence[ExpertQuestion], sections: Sequence[Section]
) -> list[str]:
    settings = workspace.experiment.questions
    notices = [*(_failed(calls) for calls in made.written.calls if calls.errors), *made.written.notices]
    docs = {section.doc for section in sections}
    asked_about = {query.metadata["doc"] for query in (*made.sampled, *made.taken)}
    if silent := sorted(docs - asked_about):
        named = some_of(map(plain, silent))
        written = "written query" if settings.source == "both" else "query"
        notices.append(f"no {written} is about {len(silent)} of the {len(docs)} documents ({named})")
    if len(sections) < settings.sections:
        notices.append(f"questions.sections = {settings.sections}, but there are only {len(sections)} sections")
    if len(experts) < settings.few_shot:
        few = f"{workspace.expert_questions} has {len(experts)} questions"
        notices.append(f"{few}, fewer than few_shot = {settings.few_shot}: all of them are in every prompt")
    if settings.source == "synthetic":
        unused = (
            f'{own} is not used: set questions.source = "own" or "both" to use it'
            for own in question_files(workspace.corpus)
        )
        notices.extend(unused)
    return [*notices, *made.notices]


def _failed(calls: Calls) -> str:
    return f"{len(calls.errors)} of {calls.n} calls to {calls.model} failed, the first with: {plain(calls.errors[0])}"


def _nothing(made: Made) -> str:
    causes = [_failed(calls) for calls in made.written.calls if calls.errors]
    if made.sifted.rejected:
        reason, n = Counter(one.reason.split(":")[0] for one in made.sifted.rejected).most_common(1)[0]
        causes.append(f"{len(made.sifted.rejected)} questions were rejected, most often as: {reason} ({n})")
    return "there is not a single query: " + ("; ".join(causes) or "the models wrote no question")
