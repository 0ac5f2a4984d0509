"""What is asked of the models that write: about which sections, and of each question its kind, role and writer."""

from __future__ import annotations

import functools
import random
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise, product
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment
from ragassay.experiment.tables import QuestionsSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_bytes
from ragassay.models.requests import Batch, Reply, Request
from ragassay.prompts import Prompt, count_tokens, fence, how_many_fit
from ragassay.records import Section, WrittenRole, grouped
from ragassay.text import one_line, plain, same_words

from . import PROMPTS, ROLES_PROMPT, STEPS
from .own import ExpertQuestion
from .reject import Candidate, writable


class Delivered(NamedTuple):
    """One reply with questions: how many were asked for, and how many it has; None where there is no reply."""

    model: str
    doc: str
    asked: int
    written: int | None


class Calls(NamedTuple):
    """Calls to one model: how many, and the errors of those that gave no reply."""

    model: str
    n: int
    errors: tuple[str, ...]


@dataclass(frozen=True)
class Written:
    """What came of asking all models: every question, what each reply delivered, which calls failed.

    notices: sentences for the user. roles: those that a model gave, where it was asked for them.
    """

    candidates: Sequence[Candidate] = ()
    delivered: Sequence[Delivered] = ()
    calls: Sequence[Calls] = ()
    notices: Sequence[str] = ()
    roles: Sequence[WrittenRole] = ()


def sample_sections(sections: Sequence[Section], n: int, seed: int) -> list[Section]:
    """At most `n` sections, in the order given: every document's share is in proportion to its length.

    Each document has one before any has two (Sainte-Laguë's highest averages of length); where there are more
    documents than `n`, `n` of them are drawn. Within a document one section is drawn from each of as many equal
    stretches as it has to give.
    """
    by_doc = grouped((section.doc, section) for section in sections)
    docs = sorted(by_doc)
    if n < len(docs):
        docs = sorted(random.Random(f"{seed}:documents").sample(docs, n))
    shares = dict.fromkeys(docs, 1)
    length = {doc: sum(len(section.text) for section in by_doc[doc]) for doc in docs}
    for _ in range(min(n, len(sections)) - len(docs)):
        open_docs = [doc for doc in docs if shares[doc] < len(by_doc[doc])]
        shares[max(open_docs, key=lambda doc: (length[doc] / (2 * shares[doc] + 1), doc))] += 1
    chosen: set[str] = set()
    for doc, share in shares.items():
        own, rng = by_doc[doc], random.Random(f"{seed}:{doc}")
        edges = [index * len(own) // share for index in range(share + 1)]
        chosen.update(own[rng.randrange(start, stop)].id for start, stop in pairwise(edges))
    return [section for section in sections if section.id in chosen]


LINKED = "multi-hop"
"""The kind that is asked about two or three linked sections."""
UNANSWERABLE = "unanswerable"
"""The kind that the documents must not answer."""
LOOSE = frozenset({"keyword", "conversational"})
"""The kinds that need not have the form of a question."""

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

Links = Mapping[str, tuple[Section, ...]]
"""Section id to the sections that go with it."""


@dataclass(frozen=True)
class Slot:
    """A question to be written. position: from 0, within its model and section. role: "" for none.

    blind: whether it is asked from the need alone.
    """

    position: int
    kind: str
    role: str
    blind: bool


@dataclass(frozen=True)
class Assignment:
    """What one request asks for: slots, numbered from 1 in it, about one section, or about several linked ones."""

    model: str
    sections: tuple[Section, ...]
    slots: tuple[Slot, ...]

    @property
    def linked(self) -> bool:
        """Whether each question needs more than one of the sections."""
        return len(self.sections) > 1


def assign(
    settings: QuestionsSettings, sections: Sequence[Section], links: Links, roles: Sequence[str]
) -> list[Assignment]:
    """`per_section` slots for each model and section; a section's linked ones are an assignment of their own.

    Kinds, roles and blindness are drawn by the seed, and their shares come out over all slots of a model, to the
    nearest slot. Where too few sections have `links`, what is left of the linked kind's share goes to the others;
    raises InputError where there is no other.
    """
    found = []
    n = len(sections) * settings.per_section
    for model in settings.quota:
        rng = random.Random(f"{settings.seed}:slots:{model}")
        linked = [bool(links.get(section.id)) for section in sections for _ in range(settings.per_section)]
        kinds = _kinds(settings.kinds, linked, rng)
        blind = dealt([True, False], [settings.blind, 1 - settings.blind], n, rng)
        cast = dealt(roles, [1.0] * len(roles), n, rng) if roles else [""] * n
        drawn = zip(kinds, cast, blind, strict=True)
        for section in sections:
            own = [Slot(at, *slot) for at, slot in enumerate(islice(drawn, settings.per_section))]
            plain = tuple(slot for slot in own if slot.kind != LINKED)
            hops = tuple(slot for slot in own if slot.kind == LINKED)
            found += [Assignment(model, (section,), plain)] if plain else []
            found += [Assignment(model, (section, *links[section.id]), hops)] if hops else []
    return found


def _kinds(wanted: Mapping[str, float], linked: Sequence[bool], rng: random.Random) -> list[str]:
    """A kind for each place: the linked kind where a section has links, the others anywhere."""
    others = {kind: share for kind, share in wanted.items() if kind != LINKED and share > 0}
    n_linked = shares([wanted.get(LINKED, 0.0), sum(others.values())], len(linked))[0]
    able = [place for place, has_links in enumerate(linked) if has_links]
    if not others and len(able) < len(linked):
        problem = f"questions.kinds has {LINKED} alone, and not every section has another one that it is linked with"
        raise InputError(problem, remedy="add documents, or give shares to other kinds")
    hops = set(rng.sample(able, min(n_linked, len(able))))
    rest = dealt(list(others), list(others.values()), len(linked) - len(hops), rng) if others else []
    return [LINKED if place in hops else rest.pop() for place in range(len(linked))]


def shares(weights: Sequence[float], n: int) -> list[int]:
    """`n` divided in proportion to `weights` by largest remainders (Hamilton's method), the first of equals first."""
    exact = [n * weight / sum(weights) for weight in weights]
    whole = [int(share + 1e-9) for share in exact]
    for index in sorted(range(len(weights)), key=lambda index: (whole[index] - exact[index], index))[: n - sum(whole)]:
        whole[index] += 1
    return whole


def dealt(values: Sequence[T], weights: Sequence[float], n: int, rng: random.Random) -> list[T]:
    """`n` of the values by their weights, in an order drawn."""
    hand = [value for value, count in zip(values, shares(weights, n), strict=True) for _ in range(count)]
    rng.shuffle(hand)
    return hand


@dataclass(frozen=True)
class Draft:
    """What is known so far of one question; `fault` says why it goes no further.

    slot: None where the reply had a number that nobody asked for. position: from 0 within the model and its first
    section, beyond those of all slots where there is no slot.
    """

    model: str
    sections: tuple[Section, ...]
    position: int
    slot: Slot | None
    need: str
    question: str
    fault: str | None = None
    evidence: tuple[Mapping[str, Any], ...] = ()
    holds: str | None = None
    answer: str = ""

    @property
    def kind(self) -> str:
        """The kind that was asked for; "" where none was."""
        return self.slot.kind if self.slot else ""

    def candidate(self, *, statements: bool) -> Candidate:
        """What is sifted. statements: whether any question may be without the form of one, as experts' are."""
        docs = list(dict.fromkeys(section.doc for section in self.sections))
        several = {"sections": [section.id for section in self.sections]} if len(self.sections) > 1 else {}
        expected = {"expected_docs": []} if self.kind == UNANSWERABLE else {"expected_docs": docs} if docs[1:] else {}
        drawn = {"kind": self.slot.kind, "blind": self.slot.blind} if self.slot else {}
        role = {"role": self.slot.role} if self.slot and self.slot.role else {}
        evidence = {"evidence": [dict(span) for span in self.evidence]} if self.evidence else {}
        held = {"holds": self.holds} if self.holds else {}
        details = {**several, **expected, **drawn, **role, "need": writable(self.need), **held, **evidence}
        text, free = self.question or self.need, statements or self.kind in LOOSE
        return Candidate(text, self.model, self.sections[0], self.position, self.answer, self.fault, free, details)


class Told(BaseModel):
    """A reply, or a part of one: what its fields are, and no more."""

    model_config = ConfigDict(extra="forbid")


@functools.cache
def at_most(n: int, base: type[M], item: Any) -> type[M]:
    """The schema of a reply whose list, the first field of `base`, has up to `n` of the items.

    It says how many there may be, so that a grammar can hold a small model to it. A longer reply still validates: what
    is too much is rejected one by one, with the reason, and not with the rest.
    """
    name = next(iter(base.model_fields))
    fields: Any = {name: (list[item], Field(json_schema_extra={"maxItems": n}))}
    schema: type[M] = create_model(base.__name__, __base__=base, __doc__=base.__doc__, **fields)
    return schema


def numbered(reply: Reply) -> dict[int, Any]:
    """The items of a reply by their `number`, the first of each, in the reply's order; none without a reply."""
    items = getattr(reply.value, next(iter(type(reply.value).model_fields))) if reply.value is not None else ()
    found: dict[int, Any] = {}
    for item in items:
        found.setdefault(item.number, item)
    return found


class Asked(NamedTuple):
    """A request of one step to one model."""

    step: str
    model: str
    request: Request


@dataclass(frozen=True)
class Asker:
    """Who is asked, step by step; of all `models`, whichever a step asks, so that request files keep their names."""

    caller: Caller
    models: Sequence[str]
    replies: dict[str, list[Reply]] = field(default_factory=lambda: defaultdict(list))

    def ask(self, asked: Sequence[Asked]) -> list[Reply]:
        """A reply to each, in their order; the requests of one step to one model are a batch, `STEP-MODEL`."""
        groups: dict[tuple[str, str], list[Request]] = {}
        for step, model in product(dict.fromkeys(one.step for one in asked), self.models):
            if own := [one.request for one in asked if one[:2] == (step, model)]:
                groups[step, model] = own
        batches = [Batch(labels(self.models, step)[model], model, tuple(own)) for (step, model), own in groups.items()]
        rows = self.caller.ask(batches) if batches else []
        replies = {group: iter(row) for group, row in zip(groups, rows, strict=True)}
        found = [next(replies[one.step, one.model]) for one in asked]
        for one, reply in zip(asked, found, strict=True):
            self.replies[one.model].append(reply)
        return found

    def calls(self) -> list[Calls]:
        """Those to each model so far."""
        errors = {m: tuple(one.error for one in self.replies[m] if one.error is not None) for m in self.models}
        return [Calls(model, len(self.replies[model]), errors[model]) for model in self.models]


def labels(models: Iterable[str], step: str) -> dict[str, str]:
    """Model to `STEP-NAME`, what request files of a step are called: each model has files of its own.

    Where two names would come out alike in a file system, a digest stands behind them.
    """
    named = {model: f"{step}-" + re.sub(r"[^A-Za-z0-9._-]+", "-", model) for model in models}
    often = Counter(label.casefold() for label in named.values())
    return {
        model: label if often[label.casefold()] == 1 else f"{label}-{digest_bytes(model.encode())[:8]}"
        for model, label in named.items()
    }


@dataclass(frozen=True)
class Setup:
    """What the steps share. prompts: by step. experts: the questions that examples are drawn from.

    written_roles: those that a model gave, where `roles` is "corpus".
    """

    experiment: Experiment
    experts: Sequence[ExpertQuestion]
    prompts: dict[str, Prompt]
    written_roles: tuple[str, ...] = ()

    @classmethod
    def load(cls, workspace: Workspace, experts: Sequence[ExpertQuestion]) -> Setup:
        """With the prompts read. Raises InputError where one cannot be used."""
        settings = workspace.experiment.questions
        own = {step: getattr(settings, f"{step}_prompt") for step in STEPS}
        prompts = {step: Prompt.load(workspace.prompt_file(own[step], PROMPTS / f"{step}.md")) for step in STEPS}
        return cls(workspace.experiment, experts, prompts)

    @property
    def roles(self) -> list[str]:
        """Who asks: the roles of the settings or those written, or else those that stand before experts' questions."""
        own = self.experiment.questions.roles
        if own == "corpus":
            return list(self.written_roles)
        return list(dict.fromkeys(own or (e.role for e in self.experts if e.role)))

    def values(self, step: str, model: str, place: str, slots: Iterable[Slot]) -> dict[str, Any]:
        """What every prompt of a writing step shows; the examples are drawn anew for each step, model and place."""
        settings, slots = self.experiment.questions, list(slots)
        rng = random.Random(f"{settings.seed}:{step}:{model}:{place}")
        return {
            "language": self.experiment.corpus.language,
            "examples": rng.sample(list(self.experts), min(settings.few_shot, len(self.experts))),
            "kinds": [kind for kind in settings.kinds if any(slot.kind == kind for slot in slots)],
            "roles": [role for role in self.roles if any(slot.role == role for slot in slots)],
        }


FEWEST, MOST = 4, 8
LONGEST = 200
"""Characters of a role; a longer one is no sentence about a person."""
NAMES_TOKENS = 800
"""What the names of documents may take of the request."""
TEXT_TOKENS = 4200
"""What the beginnings of sections may take; with names, fences and instructions the request stays near 6,000 tokens."""
N_SECTIONS = 24


class Role(Told):
    """Somebody who would come to the documents."""

    role: str = Field(description="Who it is and what brings them here, in one short sentence.")


def usable(roles: Sequence[Role]) -> list[str]:
    """The roles as prompts may show them, at most `MOST`, each on one line and once.

    What is empty, too long to be a role, or has a tag's brackets, which could close the fences of later prompts, is
    left out.
    """
    found: dict[str, str] = {}
    for item in roles:
        line = one_line(item.role)
        if (words := same_words(line)) and len(line) <= LONGEST and not {"<", ">"} & set(line):
            found.setdefault(words, line)
    return list(found.values())[:MOST]


def _enough(roles: list[Role]) -> list[Role]:
    if len(usable(roles)) < FEWEST:
        raise ValueError(f"{len(usable(roles))} different roles of at most {LONGEST} characters, {FEWEST} are needed")
    return roles


class Roles(Told):
    """The people who come to the documents."""

    roles: Annotated[list[Role], AfterValidator(_enough), Field(json_schema_extra={"maxItems": MOST})]


def request_roles(setup: Setup, sections: Sequence[Section]) -> Asked:
    """The request to the first model of the quota: names of documents, and how some sections begin, spread by seed."""
    settings = setup.experiment.questions
    docs = list(dict.fromkeys(section.doc for section in sections))
    drawn = sample_sections(sections, N_SECTIONS, settings.seed)
    names = list(dict.fromkeys([*(one.doc for one in drawn), *docs]))
    told = names[: how_many_fit((count_tokens(fence("document", name)) for name in names), NAMES_TOKENS)]
    shown = [{"doc": one.doc, "text": _beginning(one.text, TEXT_TOKENS // len(drawn))} for one in drawn]
    values = {"documents": told, "n_more": len(docs) - len(told), "sections": shown}
    messages = Prompt.load(ROLES_PROMPT).render(values | {"language": setup.experiment.corpus.language})
    return Asked("roles", next(iter(settings.quota)), Request(messages, Roles))


def ask_roles(setup: Setup, sections: Sequence[Section], asker: Asker) -> tuple[Setup, list[WrittenRole]]:
    """The setup with the roles that the model gives, and these; where `roles` is not "corpus", as it was and none.

    Where no reply can be used the setup has no role, and the one record says why.
    """
    if setup.experiment.questions.roles != "corpus":
        return setup, []
    asked = request_roles(setup, sections)
    (reply,) = asker.ask([asked])
    if not isinstance(reply.value, Roles):
        return setup, [WrittenRole(model=asked.model, error=reply.error)]
    roles = usable(reply.value.roles)
    return replace(setup, written_roles=tuple(roles)), [WrittenRole(model=asked.model, role=role) for role in roles]


def told_of(roles: Sequence[WrittenRole]) -> list[str]:
    """The sentence for the user: who asks, or why nobody is named; none where no role was asked for."""
    if not roles:
        return []
    if roles[0].role is None:
        nobody = "no role was written from the corpus, so the questions name nobody who asks"
        return [f"{nobody}: {plain(str(roles[0].error))}"]
    listed = "; ".join(str(one.role) for one in roles)
    return [f"asked as: {listed} (written by {roles[0].model}; put them into `roles` to keep or change them)"]


def _beginning(text: str, tokens: int) -> str:
    """The longest beginning of a text that has at most `tokens`; eight characters are looked at for each."""
    head = text[: 8 * tokens]
    return head[: bisect_right(range(len(head) + 1), tokens, key=lambda end: count_tokens(head[:end])) - 1]
