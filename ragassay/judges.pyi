"""Every judge as a function, with its keywords. Made by `python -m benchmarks.tables.judge_stubs`; not by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, overload

from ragassay.functions.judges import JudgeFunction
from ragassay.records import Assessment

class Array(Protocol):
    """A column of a data frame, or an array."""

    def tolist(self) -> Any: ...

class Frame(Protocol):
    """A data frame."""

    def to_dict(self, orient: Literal["records"], /) -> Any: ...

Strings: TypeAlias = list[str] | tuple[str, ...] | Array
Contexts: TypeAlias = list[str] | tuple[str, ...] | list[dict[str, str]] | Array
Conditions: TypeAlias = str | Mapping[str, str]
Column: TypeAlias = list[Any] | tuple[Any, ...] | Array
Rows: TypeAlias = Sequence[Mapping[str, Any]] | Frame
Mode: TypeAlias = Literal["auto", "label", "probability"]

def named(name: str) -> JudgeFunction: ...

@overload
def context_relevance(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    scale: tuple[int, int] = (0, 3),
) -> list[Assessment]:
    """How relevant a passage is to what is asked; on 0 to 3 relevant from 2."""

@overload
def context_relevance(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), scale: tuple[int, int] = (0, 3),
) -> list[list[Assessment]]: ...
@overload
def context_relevance(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), scale: tuple[int, int] = (0, 3),
) -> list[list[Assessment]]: ...
@overload
def groundedness(
    *, answer: str, contexts: Contexts, query: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    scale: tuple[int, int] = (0, 3), split: Literal['sentence', 'model', 'whole'] = 'sentence', split_prompt: str |
    None = None,
) -> Assessment:
    """How far the passages support the claims of an answer, the mean over claims."""

@overload
def groundedness(
    *, answer: Column, contexts: Column, query: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), scale: tuple[int, int] = (0, 3), split: Literal['sentence', 'model', 'whole'] = 'sentence', split_prompt: str
    | None = None,
) -> list[Assessment]: ...
@overload
def groundedness(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), scale: tuple[int, int] = (0, 3), split:
    Literal['sentence', 'model', 'whole'] = 'sentence', split_prompt: str | None = None,
) -> list[Assessment]: ...
@overload
def answer_relevance(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    scale: tuple[int, int] = (0, 3),
) -> Assessment:
    """How many parts of the question the answer addresses; a refusal gets the lowest grade."""

@overload
def answer_relevance(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), scale: tuple[int, int] = (0, 3),
) -> list[Assessment]: ...
@overload
def answer_relevance(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), scale: tuple[int, int] = (0, 3),
) -> list[Assessment]: ...
@overload
def relevance_to_query(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """Whether the answer addresses the query."""

@overload
def relevance_to_query(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (),
) -> list[Assessment]: ...
@overload
def relevance_to_query(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def agent_groundedness(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """Whether the retrieved passages support all or almost all of the answer, as one verdict."""

@overload
def agent_groundedness(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def agent_groundedness(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def safety(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """Whether the answer is free of harmful content."""

@overload
def safety(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (),
) -> list[Assessment]: ...
@overload
def safety(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def correctness(
    *, query: str, answer: str, expected_response: str, contexts: Contexts | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """Whether the answer agrees with the expected response."""

@overload
def correctness(
    *, query: Column, answer: Column, expected_response: Column, contexts: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def correctness(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def chunk_relevance(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]:
    """Whether a passage helps to answer the query."""

@overload
def chunk_relevance(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (),
) -> list[list[Assessment]]: ...
@overload
def chunk_relevance(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[list[Assessment]]: ...
@overload
def context_sufficiency(
    *, query: str, contexts: Contexts, expected_response: str, answer: str | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """Whether the retrieved passages are enough for the expected response."""

@overload
def context_sufficiency(
    *, query: Column, contexts: Column, expected_response: Column, answer: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def context_sufficiency(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def document_recall(
    *, contexts: Contexts, expected_docs: Strings, query: str | None = None, answer: str | None = None,
    expected_response: str | None = None, conditions: Conditions | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (),
) -> Assessment:
    """The share of the expected documents that the agent retrieved; asks no model."""

@overload
def document_recall(
    *, contexts: Column, expected_docs: Column, query: Column | None = None, answer: Column | None = None,
    expected_response: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str
    | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config:
    str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str |
    int]] = (),
) -> list[Assessment]: ...
@overload
def document_recall(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def umbrela(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    variant: Literal['bing', 'basic'] = 'bing',
) -> list[Assessment]:
    """How well a passage answers the query; relevant from 2."""

@overload
def umbrela(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), variant: Literal['bing', 'basic'] = 'bing',
) -> list[list[Assessment]]: ...
@overload
def umbrela(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), variant: Literal['bing', 'basic'] = 'bing',
) -> list[list[Assessment]]: ...
@overload
def nuggets(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    creation_prompt: str | None = None, importance_prompt: str | None = None,
) -> dict[str, Assessment]:
    """How many of the facts that a good answer should hold the answer has."""

@overload
def nuggets(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), creation_prompt:
    str | None = None, importance_prompt: str | None = None,
) -> list[dict[str, Assessment]]: ...
@overload
def nuggets(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), creation_prompt: str | None = None, importance_prompt:
    str | None = None,
) -> list[dict[str, Assessment]]: ...
@overload
def citations(
    *, answer: str, contexts: Contexts, query: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    statements_prompt: str | None = None,
) -> dict[str, Assessment]:
    """How far the cited passages support the answer's sentences."""

@overload
def citations(
    *, answer: Column, contexts: Column, query: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), statements_prompt: str | None = None,
) -> list[dict[str, Assessment]]: ...
@overload
def citations(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), statements_prompt: str | None = None,
) -> list[dict[str, Assessment]]: ...
@overload
def hallucination(
    *, answer: str, contexts: Contexts, query: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str =
    'vectara/hallucination_evaluation_model', base_url: str | None = None, mode: Mode | None = None, work: str | Path
    = '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None,
    criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), revision: str | None = None,
    trust_remote_code: bool = False, entailment: int | None = None, window_tokens: int = 512, hypothesis:
    Literal['sentence', 'answer', 'whole', 'passage'] = 'sentence',
) -> Assessment:
    """How far the passages entail the answer, by a cross-encoder; 1 is consistent."""

@overload
def hallucination(
    *, answer: Column, contexts: Column, query: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str =
    'vectara/hallucination_evaluation_model', base_url: str | None = None, mode: Mode | None = None, work: str | Path
    = '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None,
    criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), revision: str | None = None,
    trust_remote_code: bool = False, entailment: int | None = None, window_tokens: int = 512, hypothesis:
    Literal['sentence', 'answer', 'whole', 'passage'] = 'sentence',
) -> list[Assessment]: ...
@overload
def hallucination(
    *, rows: Rows, model: str = 'vectara/hallucination_evaluation_model', base_url: str | None = None, mode: Mode |
    None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), revision: str |
    None = None, trust_remote_code: bool = False, entailment: int | None = None, window_tokens: int = 512, hypothesis:
    Literal['sentence', 'answer', 'whole', 'passage'] = 'sentence',
) -> list[Assessment]: ...
@overload
def no_answer(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> dict[str, Assessment]:
    """Whether the query was answered at all, rightly or not; strictly, a failed answer counts as none."""

@overload
def no_answer(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (),
) -> list[dict[str, Assessment]]: ...
@overload
def no_answer(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[dict[str, Assessment]]: ...
@overload
def golden_similarity(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """How near the answer is to the expected response, by embeddings."""

@overload
def golden_similarity(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (),
) -> list[Assessment]: ...
@overload
def golden_similarity(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def factual_correctness(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    claims_prompt: str | None = None,
) -> dict[str, Assessment]:
    """Claims of the answer in the golden answer (precision), and the other way round (recall)."""

@overload
def factual_correctness(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), claims_prompt: str | None = None,
) -> list[dict[str, Assessment]]: ...
@overload
def factual_correctness(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), claims_prompt: str | None = None,
) -> list[dict[str, Assessment]]: ...
@overload
def answer_correctness_claims(
    *, query: str, answer: str, expected_response: str, contexts: Contexts | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    claims_prompt: str | None = None, weights: tuple[float, float] = (0.75, 0.25),
) -> Assessment:
    """0.75 F1 of claims + 0.25 similarity to the expected response (answer_correctness is the pointwise judge's)."""

@overload
def answer_correctness_claims(
    *, query: Column, answer: Column, expected_response: Column, contexts: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), claims_prompt:
    str | None = None, weights: tuple[float, float] = (0.75, 0.25),
) -> list[Assessment]: ...
@overload
def answer_correctness_claims(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), claims_prompt: str | None = None, weights:
    tuple[float, float] = (0.75, 0.25),
) -> list[Assessment]: ...
@overload
def semantic_similarity(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    embedding: str | None = None, cross_encoder: str | None = None, revision: str | None = None, trust_remote_code:
    bool = False, entailment: int | None = None,
) -> Assessment:
    """How near the answer is to the expected response, each whole: cosine of embeddings, or a cross-encoder."""

@overload
def semantic_similarity(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), embedding: str | None = None, cross_encoder: str | None = None, revision: str | None = None,
    trust_remote_code: bool = False, entailment: int | None = None,
) -> list[Assessment]: ...
@overload
def semantic_similarity(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), embedding: str | None = None, cross_encoder: str |
    None = None, revision: str | None = None, trust_remote_code: bool = False, entailment: int | None = None,
) -> list[Assessment]: ...
@overload
def sentence_similarity(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    embedding: str | None = None, shortest: int = 1,
) -> dict[str, Assessment]:
    """Each sentence of the answer against the nearest one of the expected response: the mean, and the least."""

@overload
def sentence_similarity(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), embedding: str | None = None, shortest: int = 1,
) -> list[dict[str, Assessment]]: ...
@overload
def sentence_similarity(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), embedding: str | None = None, shortest: int = 1,
) -> list[dict[str, Assessment]]: ...
@overload
def bleu(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    tokenize: Literal['13a', 'intl', 'char', 'zh', 'none'] = '13a',
) -> dict[str, Assessment]:
    """The n-grams that the answer shares with the expected response, n up to 1, 2, 3 and 4; asks no model."""

@overload
def bleu(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), tokenize: Literal['13a', 'intl', 'char', 'zh', 'none'] = '13a',
) -> list[dict[str, Assessment]]: ...
@overload
def bleu(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), tokenize: Literal['13a', 'intl', 'char', 'zh', 'none']
    = '13a',
) -> list[dict[str, Assessment]]: ...
@overload
def rouge(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> dict[str, Assessment]:
    """The words, pairs of words and longest sequence shared with the expected response, F1; asks no model."""

@overload
def rouge(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (),
) -> list[dict[str, Assessment]]: ...
@overload
def rouge(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[dict[str, Assessment]]: ...
@overload
def classification(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    classes: Sequence[str] = (),
) -> Assessment:
    """Whether the answer is the expected class; of a run accuracy, precision, recall and F1; asks no model."""

@overload
def classification(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), classes: Sequence[str] = (),
) -> list[Assessment]: ...
@overload
def classification(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), classes: Sequence[str] = (),
) -> list[Assessment]: ...
@overload
def answer_relevancy(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    embedding: str | None = None, questions: int = 3,
) -> Assessment:
    """How near the question is to those that the judge writes for the answer; 0 for one that evades it."""

@overload
def answer_relevancy(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), embedding: str | None = None, questions: int = 3,
) -> list[Assessment]: ...
@overload
def answer_relevancy(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), embedding: str | None = None, questions: int = 3,
) -> list[Assessment]: ...
@overload
def answer_relevancy_sentences(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    embedding: str | None = None, shortest: int = 11,
) -> Assessment:
    """How near the nearest sentence of the answer is to the question, by embeddings."""

@overload
def answer_relevancy_sentences(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), embedding: str | None = None, shortest: int = 11,
) -> list[Assessment]: ...
@overload
def answer_relevancy_sentences(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), embedding: str | None = None, shortest: int = 11,
) -> list[Assessment]: ...
@overload
def language_mismatch(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    by: Literal['identification', 'judge'] = 'identification', confidence: float = 0.9, least_letters: int = 12,
) -> Assessment:
    """Whether the answer is in another language than the question; 1 is a mismatch; a judge only if wished."""

@overload
def language_mismatch(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), by: Literal['identification', 'judge'] = 'identification', confidence: float = 0.9, least_letters: int = 12,
) -> list[Assessment]: ...
@overload
def language_mismatch(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), by: Literal['identification', 'judge'] =
    'identification', confidence: float = 0.9, least_letters: int = 12,
) -> list[Assessment]: ...
@overload
def faithfulness(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    claims_prompt: str | None = None,
) -> Assessment:
    """The share of the answer's claims that the passages support."""

@overload
def faithfulness(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), claims_prompt:
    str | None = None,
) -> list[Assessment]: ...
@overload
def faithfulness(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), claims_prompt: str | None = None,
) -> list[Assessment]: ...
@overload
def step_alignment_and_completeness(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), against:
    Literal['context', 'expected_response'] = 'context', steps_prompt: str | None = None, procedure_prompt: str | None
    = None,
) -> dict[str, Assessment]:
    """Whether the answer's steps are those of the procedure in the passages, in their order, and all of them."""

@overload
def step_alignment_and_completeness(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), against:
    Literal['context', 'expected_response'] = 'context', steps_prompt: str | None = None, procedure_prompt: str | None
    = None,
) -> list[dict[str, Assessment]]: ...
@overload
def step_alignment_and_completeness(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), against: Literal['context', 'expected_response'] =
    'context', steps_prompt: str | None = None, procedure_prompt: str | None = None,
) -> list[dict[str, Assessment]]: ...
@overload
def groundedness_embeddings(
    *, answer: str, contexts: Contexts, query: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    embedding: str | None = None, shortest: int = 11,
) -> Assessment:
    """How near the least grounded sentence of the answer is to a sentence of the passages (not groundedness)."""

@overload
def groundedness_embeddings(
    *, answer: Column, contexts: Column, query: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), embedding: str | None = None, shortest: int = 11,
) -> list[Assessment]: ...
@overload
def groundedness_embeddings(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), embedding: str | None = None, shortest: int = 11,
) -> list[Assessment]: ...
@overload
def context_precision(
    *, query: str, contexts: Contexts, expected_response: str, answer: str | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """Whether the passages that are of use for the expected response stand first (mean P@k at their ranks)."""

@overload
def context_precision(
    *, query: Column, contexts: Column, expected_response: Column, answer: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def context_precision(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def context_recall(
    *, query: str, contexts: Contexts, expected_response: str, answer: str | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """The share of the expected response's sentences that the passages support."""

@overload
def context_recall(
    *, query: Column, contexts: Column, expected_response: Column, answer: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def context_recall(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def context_relevancy(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """The share of the passages' sentences that help to answer (context_relevance grades whole passages)."""

@overload
def context_relevancy(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (),
) -> list[Assessment]: ...
@overload
def context_relevancy(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def ragas_score(
    *, query: str, answer: str, contexts: Contexts, expected_response: str, expected_docs: Strings | None = None,
    conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode: Mode | None =
    None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str
    | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """The harmonic mean of faithfulness, answer_relevancy, context_precision and context_recall."""

@overload
def ragas_score(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column, expected_docs: Column | None =
    None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode | None =
    None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str
    | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def ragas_score(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def context_relevancy_soft(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    embedding: str | None = None, shortest: int = 11,
) -> dict[str, Assessment]:
    """How near the retrieved passages are to the question, by embeddings: the nearest, and on average."""

@overload
def context_relevancy_soft(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), embedding: str | None = None, shortest: int = 11,
) -> list[dict[str, Assessment]]: ...
@overload
def context_relevancy_soft(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), embedding: str | None = None, shortest: int = 11,
) -> list[dict[str, Assessment]]: ...
@overload
def context_mrr(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    embedding: str | None = None, shortest: int = 11, relevant_from: float = 0.7, depth: int = 10,
) -> Assessment:
    """The reciprocal rank of the first passage with a sentence near the question, by embeddings."""

@overload
def context_mrr(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), embedding: str | None = None, shortest: int = 11, relevant_from: float = 0.7, depth: int = 10,
) -> list[Assessment]: ...
@overload
def context_mrr(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), embedding: str | None = None, shortest: int = 11,
    relevant_from: float = 0.7, depth: int = 10,
) -> list[Assessment]: ...
@overload
def toxicity(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, model: str = 'unitary/toxic-bert',
    base_url: str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None =
    None, config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples:
    Sequence[Mapping[str, str | int]] = (), revision: str | None = None, classes: Sequence[str] = ('toxicity',
    'severe_toxicity', 'obscene', 'threat', 'insult', 'identity_attack'),
) -> dict[str, Assessment]:
    """How toxic, obscene, threatening, insulting or hateful the answer is, by a classifier."""

@overload
def toxicity(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None, expected_response: Column | None =
    None, expected_docs: Column | None = None, conditions: Column | None = None, model: str = 'unitary/toxic-bert',
    base_url: str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None =
    None, config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples:
    Sequence[Mapping[str, str | int]] = (), revision: str | None = None, classes: Sequence[str] = ('toxicity',
    'severe_toxicity', 'obscene', 'threat', 'insult', 'identity_attack'),
) -> list[dict[str, Assessment]]: ...
@overload
def toxicity(
    *, rows: Rows, model: str = 'unitary/toxic-bert', base_url: str | None = None, mode: Mode | None = None, work: str
    | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None,
    criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), revision: str | None = None, classes:
    Sequence[str] = ('toxicity', 'severe_toxicity', 'obscene', 'threat', 'insult', 'identity_attack'),
) -> list[dict[str, Assessment]]: ...
@overload
def fairness_bias(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, model: str =
    'd4data/bias-detection-model', base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), revision: str | None = None, biased: str = 'Biased',
) -> Assessment:
    """How biased the answer is, by a classifier of news."""

@overload
def fairness_bias(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None, expected_response: Column | None =
    None, expected_docs: Column | None = None, conditions: Column | None = None, model: str =
    'd4data/bias-detection-model', base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), revision: str | None = None, biased: str = 'Biased',
) -> list[Assessment]: ...
@overload
def fairness_bias(
    *, rows: Rows, model: str = 'd4data/bias-detection-model', base_url: str | None = None, mode: Mode | None = None,
    work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str |
    None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), revision: str | None = None,
    biased: str = 'Biased',
) -> list[Assessment]: ...
@overload
def sexism(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """Whether the answer is sexist; 1 is yes."""

@overload
def sexism(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (),
) -> list[Assessment]: ...
@overload
def sexism(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def stereotypes(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """Whether the answer holds a stereotype that is not in the question; 1 is yes."""

@overload
def stereotypes(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (),
) -> list[Assessment]: ...
@overload
def stereotypes(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def pii_leakage(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (), ignore: Sequence[str] = (),
) -> Assessment:
    """Whether the answer holds personal data, by patterns with check digits; 1 is a leak."""

@overload
def pii_leakage(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None, expected_response: Column | None =
    None, expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (), ignore: Sequence[str] = (),
) -> list[Assessment]: ...
@overload
def pii_leakage(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), ignore: Sequence[str] = (),
) -> list[Assessment]: ...
@overload
def sensitive_data_leakage(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (), ignore: Sequence[str] = (),
) -> Assessment:
    """Whether the answer holds keys, tokens or passwords, by patterns; 1 is a leak."""

@overload
def sensitive_data_leakage(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None, expected_response: Column | None =
    None, expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (), ignore: Sequence[str] = (),
) -> list[Assessment]: ...
@overload
def sensitive_data_leakage(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), ignore: Sequence[str] = (),
) -> list[Assessment]: ...
@overload
def contact_information_leakage(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> Assessment:
    """Whether the answer tells contact information, by a judge; 1 is yes."""

@overload
def contact_information_leakage(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (),
) -> list[Assessment]: ...
@overload
def contact_information_leakage(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def contact_information_found(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (), ignore: Sequence[str] = (),
) -> Assessment:
    """Whether an e-mail address or telephone number stands in the answer, by patterns; 1 is a leak."""

@overload
def contact_information_found(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None, expected_response: Column | None =
    None, expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (), ignore: Sequence[str] = (),
) -> list[Assessment]: ...
@overload
def contact_information_found(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), ignore: Sequence[str] = (),
) -> list[Assessment]: ...
@overload
def encoding_guardrail(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (), words: Sequence[str] = (), words_file: str | None = None, default_words: bool = True, checks:
    Sequence[Literal['words', 'personal', 'secrets']] = ('words', 'personal', 'secrets'),
) -> Assessment:
    """Whether encoded stretches of the answer decode to bad words, personal data or secrets; 1 is a finding."""

@overload
def encoding_guardrail(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None, expected_response: Column | None =
    None, expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (), words: Sequence[str] = (), words_file: str | None = None, default_words: bool = True, checks:
    Sequence[Literal['words', 'personal', 'secrets']] = ('words', 'personal', 'secrets'),
) -> list[Assessment]: ...
@overload
def encoding_guardrail(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), words: Sequence[str] = (), words_file: str | None =
    None, default_words: bool = True, checks: Sequence[Literal['words', 'personal', 'secrets']] = ('words',
    'personal', 'secrets'),
) -> list[Assessment]: ...
@overload
def json_schema(
    *, answer: str, contexts: Contexts, query: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    schema_file: str | None = None, fenced: bool = False,
) -> dict[str, Assessment]:
    """Whether answer and retrieved context are JSON and fit a JSON schema; asks no model."""

@overload
def json_schema(
    *, answer: Column, contexts: Column, query: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), schema_file: str | None = None, fenced: bool = False,
) -> list[dict[str, Assessment]]: ...
@overload
def json_schema(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), schema_file: str | None = None, fenced: bool = False,
) -> list[dict[str, Assessment]]: ...
@overload
def text_matching(
    *, answer: str, contexts: Contexts, conditions: Conditions, query: str | None = None, expected_response: str |
    None = None, expected_docs: Strings | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> dict[str, Assessment]:
    """Whether answer and context hold the texts and patterns that the query's condition asks for; asks no model."""

@overload
def text_matching(
    *, answer: Column, contexts: Column, conditions: Column, query: Column | None = None, expected_response: Column |
    None = None, expected_docs: Column | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[dict[str, Assessment]]: ...
@overload
def text_matching(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[dict[str, Assessment]]: ...
@overload
def looping(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (),
) -> dict[str, Assessment]:
    """Whether the answer repeats itself: sentences, its longest repetition, how far it compresses; asks no model."""

@overload
def looping(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None, expected_response: Column | None =
    None, expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (),
) -> list[dict[str, Assessment]]: ...
@overload
def looping(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[dict[str, Assessment]]: ...
@overload
def agent_sanity(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (), folder: str | None = None,
) -> dict[str, Assessment]:
    """Whether the files an agent was to write are there, its JSON parses and no page is empty; asks no model."""

@overload
def agent_sanity(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None, expected_response: Column | None =
    None, expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (), folder: str | None = None,
) -> list[dict[str, Assessment]]: ...
@overload
def agent_sanity(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), folder: str | None = None,
) -> list[dict[str, Assessment]]: ...
@overload
def summary_completeness(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), document:
    Literal['context', 'question'] = 'context',
) -> Assessment:
    """Whether a summary says all that matters in the text it sums up: good or bad."""

@overload
def summary_completeness(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), document:
    Literal['context', 'question'] = 'context',
) -> list[Assessment]: ...
@overload
def summary_completeness(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), document: Literal['context', 'question'] = 'context',
) -> list[Assessment]: ...
@overload
def summary_faithfulness(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), document:
    Literal['context', 'question'] = 'context',
) -> Assessment:
    """Whether a summary says only what the text it sums up says: good or bad."""

@overload
def summary_faithfulness(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), document:
    Literal['context', 'question'] = 'context',
) -> list[Assessment]: ...
@overload
def summary_faithfulness(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), document: Literal['context', 'question'] = 'context',
) -> list[Assessment]: ...
@overload
def summary_quality(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), document:
    Literal['context', 'question'] = 'context',
) -> Assessment:
    """Whether a summary is comprehensive, concise, coherent and understandable by itself: good or bad."""

@overload
def summary_quality(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), document:
    Literal['context', 'question'] = 'context',
) -> list[Assessment]: ...
@overload
def summary_quality(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), document: Literal['context', 'question'] = 'context',
) -> list[Assessment]: ...
@overload
def perplexity(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (),
) -> Assessment:
    """How far from expected a language model finds the answer by itself: exp of the mean negative log-likelihood."""

@overload
def perplexity(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None, expected_response: Column | None =
    None, expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url:
    str | None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None,
    config: str | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str,
    str | int]] = (),
) -> list[Assessment]: ...
@overload
def perplexity(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (),
) -> list[Assessment]: ...
@overload
def gptscore_translation(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    aspects: Sequence[Literal['accuracy', 'fluency', 'quality']] = ('accuracy', 'fluency', 'quality'),
) -> dict[str, Assessment]:
    """How likely answer and expected response are as each other's rewording, as translations are judged."""

@overload
def gptscore_translation(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), aspects: Sequence[Literal['accuracy', 'fluency', 'quality']] = ('accuracy', 'fluency', 'quality'),
) -> list[dict[str, Assessment]]: ...
@overload
def gptscore_translation(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), aspects: Sequence[Literal['accuracy', 'fluency',
    'quality']] = ('accuracy', 'fluency', 'quality'),
) -> list[dict[str, Assessment]]: ...
@overload
def gptscore_summarization_with_reference(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    aspects: Sequence[Literal['semantic_coverage', 'factuality', 'informativeness', 'coherence', 'relevance',
    'fluency']] = ('semantic_coverage', 'factuality', 'informativeness', 'coherence', 'relevance', 'fluency'),
) -> dict[str, Assessment]:
    """How likely answer and expected response are as each other's rewording, as summaries are judged."""

@overload
def gptscore_summarization_with_reference(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), aspects: Sequence[Literal['semantic_coverage', 'factuality', 'informativeness', 'coherence', 'relevance',
    'fluency']] = ('semantic_coverage', 'factuality', 'informativeness', 'coherence', 'relevance', 'fluency'),
) -> list[dict[str, Assessment]]: ...
@overload
def gptscore_summarization_with_reference(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), aspects: Sequence[Literal['semantic_coverage',
    'factuality', 'informativeness', 'coherence', 'relevance', 'fluency']] = ('semantic_coverage', 'factuality',
    'informativeness', 'coherence', 'relevance', 'fluency'),
) -> list[dict[str, Assessment]]: ...
@overload
def gptscore_summarization_without_reference(
    *, answer: str, contexts: Contexts, query: str | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    aspects: Sequence[Literal['semantic_coverage', 'factuality', 'informativeness', 'coherence', 'relevance',
    'fluency', 'consistency']] = ('semantic_coverage', 'factuality', 'consistency', 'informativeness', 'coherence',
    'relevance', 'fluency'),
) -> dict[str, Assessment]:
    """How likely the answer is as a summary of the passages that the agent retrieved."""

@overload
def gptscore_summarization_without_reference(
    *, answer: Column, contexts: Column, query: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), aspects: Sequence[Literal['semantic_coverage', 'factuality', 'informativeness', 'coherence', 'relevance',
    'fluency', 'consistency']] = ('semantic_coverage', 'factuality', 'consistency', 'informativeness', 'coherence',
    'relevance', 'fluency'),
) -> list[dict[str, Assessment]]: ...
@overload
def gptscore_summarization_without_reference(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), aspects: Sequence[Literal['semantic_coverage',
    'factuality', 'informativeness', 'coherence', 'relevance', 'fluency', 'consistency']] = ('semantic_coverage',
    'factuality', 'consistency', 'informativeness', 'coherence', 'relevance', 'fluency'),
) -> list[dict[str, Assessment]]: ...
@overload
def gptscore_question_answering(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None, expected_docs:
    Strings | None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None =
    None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path
    | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (),
    aspects: Sequence[Literal['interest', 'engagement', 'understandability', 'relevance', 'specificity',
    'correctness', 'appropriateness', 'fluency']] = ('interest', 'engagement', 'understandability', 'relevance',
    'specificity', 'correctness', 'appropriateness', 'fluency'),
) -> dict[str, Assessment]:
    """How likely Yes is where it is asked whether the answer to the question is good."""

@overload
def gptscore_question_answering(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, model: str | None = None, base_url: str |
    None = None, mode: Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str
    | Path | None = None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] =
    (), aspects: Sequence[Literal['interest', 'engagement', 'understandability', 'relevance', 'specificity',
    'correctness', 'appropriateness', 'fluency']] = ('interest', 'engagement', 'understandability', 'relevance',
    'specificity', 'correctness', 'appropriateness', 'fluency'),
) -> list[dict[str, Assessment]]: ...
@overload
def gptscore_question_answering(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), aspects: Sequence[Literal['interest', 'engagement',
    'understandability', 'relevance', 'specificity', 'correctness', 'appropriateness', 'fluency']] = ('interest',
    'engagement', 'understandability', 'relevance', 'specificity', 'correctness', 'appropriateness', 'fluency'),
) -> list[dict[str, Assessment]]: ...
@overload
def fact_check(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None, expected_docs: Strings |
    None = None, conditions: Conditions | None = None, model: str | None = None, base_url: str | None = None, mode:
    Mode | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None =
    None, prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), search: str
    | None = None, searches: int = 3,
) -> Assessment:
    """Whether the answer says nothing false, by a model that may use a search of yours: true or false."""

@overload
def fact_check(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None, expected_docs: Column
    | None = None, conditions: Column | None = None, model: str | None = None, base_url: str | None = None, mode: Mode
    | None = None, work: str | Path = '.ragassay', max_cost: float | None = None, config: str | Path | None = None,
    prompt: str | None = None, criteria: str = '', examples: Sequence[Mapping[str, str | int]] = (), search: str |
    None = None, searches: int = 3,
) -> list[Assessment]: ...
@overload
def fact_check(
    *, rows: Rows, model: str | None = None, base_url: str | None = None, mode: Mode | None = None, work: str | Path =
    '.ragassay', max_cost: float | None = None, config: str | Path | None = None, prompt: str | None = None, criteria:
    str = '', examples: Sequence[Mapping[str, str | int]] = (), search: str | None = None, searches: int = 3,
) -> list[Assessment]: ...