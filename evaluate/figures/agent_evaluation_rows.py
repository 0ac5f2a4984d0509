"""What the judges of Agent Evaluation gave each answer, put together: a row for each query and agent.

The columns of Databricks are named after the judge, but `agent_groundedness` is `groundedness` there. Judges of the
user's own (a prompt or a LabelJudge) take part under their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Answer, Assessment, Passage, Query
from ragassay.text import plain

from ..inputs.material import Material, limited, read_material
from ..judging.catalog import experiment_evaluators
from ..judging.engine.cases import expected_response
from ..judging.engine.evaluator import Evaluator, LabelJudge
from ..judging.judges.agent_evaluation import FAMILY
from ..judging.judges.document_recall import DocumentRecall
from .root_cause import ANSWERED, THEIR_NAMES, Outcome, Overall, answer_outcome, overall, passages_outcome

PassageRows = Mapping[str, Assessment | None]
"""An agent's passages, best first, to what a judge gave them; None for one that is not in the corpus."""


@dataclass(frozen=True)
class JudgedAnswer:
    """An agent's answer (or failure to answer) and what was found of it, by the judges' documented names.

    answers: of judges of answers; passages: of judges of passages. What a judge did not owe is not there.
    document_recall: None where no document is expected.
    """

    query: Query
    answer: Answer
    retrieved: tuple[Passage, ...]
    answers: Mapping[str, Assessment]
    passages: Mapping[str, PassageRows]
    document_recall: Assessment | None

    @property
    def overall(self) -> Overall:
        """Pass or fail, and the root cause."""
        found = [Outcome(ANSWERED, None, self.answer.error)] if self.answer.error is not None else []
        made = [answer_outcome(name, row) for name, row in self.answers.items()]
        made += [passages_outcome(name, rows) for name, rows in self.passages.items()]
        found += [one for one in made if one is not None]
        return overall(found, ground_truth=expected_response(self.query) is not None)


@dataclass(frozen=True)
class Judged:
    """All of an experiment. of_answers, of_passages: the judges' documented names, in the experiment's order."""

    material: Material
    of_answers: tuple[str, ...]
    of_passages: tuple[str, ...]
    recall: bool
    rows: tuple[JudgedAnswer, ...]


def read_judged(workspace: Workspace) -> Judged:
    """The rows, by query, then agent.

    Raises InputError where no judge of this method takes part, where two would share a name, and where
    `judgments.jsonl` lacks what the experiment's judges owe.
    """
    evaluators, settings = experiment_evaluators(workspace), workspace.corpus / "experiment.toml"
    judged_by(evaluators, settings)
    material = limited(read_material(workspace), workspace.experiment.evaluate.max_rows)
    given = read_records(workspace.judgments, Assessment)
    asked = [(query.id, agent) for query in material.queries for agent in material.agents]
    return judged_of(evaluators, given, material, asked, settings, workspace.judgments)


def judged_of(
    evaluators: Sequence[Evaluator],
    given: Sequence[Assessment],
    material: Material,
    asked: Sequence[tuple[str, str]],
    settings: Path | None = None,
    judgments: Path | None = None,
) -> Judged:
    """The rows of the answers to be judged (`asked`: query ids and agents) from what was given.

    settings, judgments: the files that an error names. Raises InputError as `read_judged`.
    """
    judges, recall = judged_by(evaluators, settings)
    queries = {query.id: query for query in material.queries}
    found = _Found(material, {(row.query_id, row.subject, row.criterion): row for row in given}, judgments)
    rows = tuple(found.row(queries[query], material.answers[query, agent], judges, recall) for query, agent in asked)
    units = {unit: tuple(n for n, one in judges.items() if one.unit == unit) for unit in ("answer", "passage")}
    return Judged(material, units["answer"], units["passage"], recall is not None, rows)


def judged_by(
    evaluators: Sequence[Evaluator], settings: Path | None
) -> tuple[dict[str, Evaluator], DocumentRecall | None]:
    """The judges that take part by their documented names, and document_recall if it is among the evaluators.

    Raises InputError as `read_judged`.
    """
    recall = next((one for one in evaluators if isinstance(one, DocumentRecall)), None)
    judges: dict[str, Evaluator] = {}
    for one in evaluators:
        if not takes_part(one) or one.unit == "query":
            continue
        name = THEIR_NAMES.get(one.name, one.name)
        if name in judges:
            problem = f"two judges would share the columns of '{plain(name)}'"
            raise InputError(problem, file=settings, remedy="rename your own")
        judges[name] = one
    if not judges and recall is None:
        remedy = 'name "agent-evaluation" in evaluate.judges and run `ragassay evaluate`'
        remedy = remedy if settings else "give it one: --with agent-evaluation"
        raise InputError("no judge of Agent Evaluation takes part", file=settings, remedy=remedy)
    return judges, recall


def takes_part(judge: Evaluator) -> bool:
    """Whether it is a judge by their method: one of theirs, or one of the user's own."""
    return isinstance(judge, LabelJudge) and judge.family in (FAMILY, "own")


@dataclass(frozen=True)
class _Found:
    """The records, looked up by what each judge owes."""

    material: Material
    given: Mapping[tuple[str, str, str], Assessment]
    judgments: Path | None

    def row(
        self, query: Query, answer: Answer, judges: Mapping[str, Evaluator], recall: DocumentRecall | None
    ) -> JudgedAnswer:
        owing = {name: one for name, one in judges.items() if not one.lacks(query)}
        answers = {n: self._of(one, query, answer.agent) for n, one in owing.items() if one.unit == "answer"}
        passages = {n: self._of_passages(one, query, answer) for n, one in owing.items() if one.unit == "passage"}
        found = None if recall is None or recall.lacks(query) else self._of(recall, query, answer.agent)
        return JudgedAnswer(query, answer, self.material.known(answer.passages), answers, passages, found)

    def _of_passages(self, judge: Evaluator, query: Query, answer: Answer) -> PassageRows:
        ids: Sequence[str] = tuple(dict.fromkeys(answer.passages))
        return {id: self._of(judge, query, id) if id in self.material.passages else None for id in ids}

    def _of(self, judge: Evaluator, query: Query, subject: str) -> Assessment:
        row = self.given.get((query.id, subject, judge.criteria[0].name))
        if row is None:
            problem = f"lacks what {plain(judge.name)} gave {plain(subject)} on query '{plain(query.id)}'"
            raise InputError(problem, file=self.judgments, remedy="run `ragassay evaluate`")
        return row
