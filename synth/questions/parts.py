"""What is written at once: the whole test set, or the questions of one look, each part as any other could have been."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragassay.errors import InputError
from ragassay.experiment.settings import FEWEST_SECTIONS
from ragassay.experiment.tables import QuestionsSettings
from ragassay.experiment.workspace import Part, Workspace
from ragassay.records import LedgerRow, Query, QuestionsCheck, Rejected, Section, grouped
from ragassay.text import listed

from .quotas import divided
from .reject import Sifted
from .slots import Calls, Written, sample_sections, shares

REPEATED = "the very text of a question of an earlier look"
"""Why a question of a later part is rejected."""


@dataclass(frozen=True)
class Made:
    """What came of asking the models. taken: what a person took in of the rejected, which stands behind the sampled.

    check: what was said of the test set, where it was chosen.
    """

    written: Written = Written()
    sifted: Sifted = Sifted((), ())
    sampled: Sequence[Query] = ()
    taken: Sequence[Query] = ()
    notices: Sequence[str] = ()
    check: QuestionsCheck | None = None

    @property
    def rows(self) -> list[LedgerRow]:
        """The ledger: a row for each model and each document that it was asked about, in the order of the replies.

        What was taken in counts as kept and sampled.
        """
        ours = ([*self.sifted.kept, *self.taken], self.sifted.rejected, [*self.sampled, *self.taken])
        places = ([(one.metadata["model"], one.metadata["doc"]) for one in some] for some in ours)
        n_kept, n_rejected, n_sampled = map(Counter, places)
        rows = []
        for place in dict.fromkeys(one[:2] for one in self.written.delivered):
            replies = [one for one in self.written.delivered if one[:2] == place]
            got = [(one.asked, one.written) for one in replies if one.written is not None]
            rows.append(
                LedgerRow(
                    model=place[0],
                    doc=place[1],
                    asked=sum(one.asked for one in replies),
                    written=sum(written for _, written in got),
                    failed=sum(one.asked for one in replies if one.written is None),
                    unwritten=sum(max(asked - written, 0) for asked, written in got),
                    extra=sum(max(written - asked, 0) for asked, written in got),
                    kept=n_kept[place],
                    rejected=n_rejected[place],
                    sampled=n_sampled[place],
                )
            )
        return rows


def together(parts: Sequence[Made]) -> Made:
    """The parts as one, what is said of each with the number of its look where there are several."""
    if len(parts) == 1:
        return parts[0]
    written = [one.written for one in parts]
    by_model = grouped((calls.model, calls) for one in written for calls in one.calls)
    return Made(
        Written(
            [],
            [delivered for one in written for delivered in one.delivered],
            [Calls(name, sum(c.n for c in own), sum((c.errors for c in own), ())) for name, own in by_model.items()],
            _numbered([one.notices for one in written]),
            written[0].roles,
        ),
        Sifted(
            tuple(query for one in parts for query in one.sifted.kept),
            tuple(row for one in parts for row in one.sifted.rejected),
        ),
        [query for one in parts for query in one.sampled],
        [query for one in parts for query in one.taken],
        notices=_numbered([one.notices for one in parts]),
    )


def _numbered(notices: Sequence[Sequence[str]]) -> list[str]:
    """Each said once, of all parts or of those that it is true of."""
    places = grouped((notice, look) for look, said in enumerate(notices, 1) for notice in said)
    return [
        notice if len(looks) == len(notices) else f"look {listed([str(look) for look in looks])}: {notice}"
        for notice, looks in places.items()
    ]


def parts_of(workspace: Workspace, sections: Sequence[Section], n_own: int) -> list[Part]:
    """What is written at once: everything, or what is for each look, of sections that are drawn and shuffled once.

    Raises InputError where there is no section, and where the first look would have too few.
    """
    if not sections:
        raise InputError("has no section to ask about", file=workspace.sections, remedy="run `ragassay ingest` again")
    settings, looks = workspace.experiment.questions, workspace.experiment.run.looks
    drawn = [one.id for one in sample_sections(sections, settings.sections, settings.seed)]
    if not workspace.experiment.by_look:
        return [Part(part=1, sections=tuple(drawn), quota=dict(settings.quota))]
    mixed = random.Random(f"{settings.seed}:parts").sample(drawn, len(drawn))
    quotas = divided(settings.quota, looks, settings.seed)
    parts = [Part(part=at, sections=tuple(mixed[at - 1 :: looks]), quota=quota) for at, quota in enumerate(quotas, 1)]
    first = min(len(parts[0].sections), sum(parts[0].quota.values())) + n_own // looks
    if first < FEWEST_SECTIONS:
        problem = f"the first of {looks} looks would have queries from {first} sections, and no agent is told from "
        remedy = f"raise questions.sections and quota, add documents, or set run.looks below {looks}"
        file = workspace.corpus / "experiment.toml"
        raise InputError(f"{problem}another below {FEWEST_SECTIONS}", file=file, remedy=remedy)
    return parts


def settings_of(settings: QuestionsSettings, parts: Sequence[Part]) -> list[QuestionsSettings]:
    """Those that each part is chosen by: its quotas, and of each kind its share of what the whole would have."""
    if len(parts) == 1:
        return [settings]
    named = [kind for kind, share in settings.kinds.items() if share > 0]
    counts = shares([settings.kinds[kind] for kind in named], sum(settings.quota.values()))
    kinds = divided(dict(zip(named, counts, strict=True)), len(parts), settings.seed)
    return [
        settings.model_copy(update={"quota": part.quota, "kinds": own}) for part, own in zip(parts, kinds, strict=True)
    ]


def without_repeated(part: Made, before: Sequence[Made]) -> Made:
    """Without what the test set has from an earlier part in the very same words, which is no further question.

    What only resembles an earlier one stays: were it left out, later parts would differ from earlier ones.
    """
    there = {query.id for one in before for query in (*one.sampled, *one.taken)}
    again = [query for query in part.sampled if query.id in there]
    if not again:
        return part
    rejected = [Rejected(text=query.text, metadata=query.metadata, reason=REPEATED) for query in again]
    kept = tuple(query for query in part.sifted.kept if query not in again)
    n = "1 question is" if len(again) == 1 else f"{len(again):,} questions are"
    return replace(
        part,
        sifted=Sifted(kept, (*part.sifted.rejected, *rejected)),
        sampled=[query for query in part.sampled if query not in again],
        notices=(*part.notices, f"{n} left out: {REPEATED}"),
    )
