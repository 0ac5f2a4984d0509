"""Every judge as a function. Made by `python -m benchmarks.tables.judge_stubs`, and not by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, Unpack, overload

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

class Asking(TypedDict, total=False):
    """Whom to ask and how, and what every judge can be told."""

    model: str | None
    base_url: str | None
    mode: Mode | None
    work: str | Path
    max_cost: float | None
    config: str | Path | None
    prompt: str | None
    criteria: str
    examples: Sequence[Mapping[str, str | int]]

class _context_relevance(Asking, total=False):
    scale: tuple[int, int]

@overload
def context_relevance(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_context_relevance],
) -> list[Assessment]:
    """How relevant a passage is to what is asked; on 0 to 3 relevant from 2."""

@overload
def context_relevance(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_context_relevance],
) -> list[list[Assessment]]: ...
@overload
def context_relevance(
    *, rows: Rows, **asking: Unpack[_context_relevance],
) -> list[list[Assessment]]: ...
class _groundedness(Asking, total=False):
    scale: tuple[int, int]
    split: Literal['sentence', 'model', 'whole']
    split_prompt: str | None

@overload
def groundedness(
    *, answer: str, contexts: Contexts, query: str | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_groundedness],
) -> Assessment:
    """How far the passages support the claims of an answer, the mean over claims."""

@overload
def groundedness(
    *, answer: Column, contexts: Column, query: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_groundedness],
) -> list[Assessment]: ...
@overload
def groundedness(
    *, rows: Rows, **asking: Unpack[_groundedness],
) -> list[Assessment]: ...
class _answer_relevance(Asking, total=False):
    scale: tuple[int, int]

@overload
def answer_relevance(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_answer_relevance],
) -> Assessment:
    """How many parts of the question the answer addresses; a refusal gets the lowest grade."""

@overload
def answer_relevance(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_answer_relevance],
) -> list[Assessment]: ...
@overload
def answer_relevance(
    *, rows: Rows, **asking: Unpack[_answer_relevance],
) -> list[Assessment]: ...
@overload
def relevance_to_query(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """Whether the answer addresses the query."""

@overload
def relevance_to_query(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def relevance_to_query(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def agent_groundedness(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """Whether the retrieved passages support all or almost all of the answer, as one verdict."""

@overload
def agent_groundedness(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def agent_groundedness(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def safety(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """Whether the answer is free of harmful content."""

@overload
def safety(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def safety(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def correctness(
    *, query: str, answer: str, expected_response: str, contexts: Contexts | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """Whether the answer agrees with the expected response."""

@overload
def correctness(
    *, query: Column, answer: Column, expected_response: Column, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def correctness(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def chunk_relevance(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> list[Assessment]:
    """Whether a passage helps to answer the query."""

@overload
def chunk_relevance(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[list[Assessment]]: ...
@overload
def chunk_relevance(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[list[Assessment]]: ...
@overload
def context_sufficiency(
    *, query: str, contexts: Contexts, expected_response: str, answer: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """Whether the retrieved passages are enough for the expected response."""

@overload
def context_sufficiency(
    *, query: Column, contexts: Column, expected_response: Column, answer: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def context_sufficiency(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def document_recall(
    *, contexts: Contexts, expected_docs: Strings, query: str | None = None, answer: str | None = None,
    expected_response: str | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """The share of the expected documents that the agent retrieved; asks no model."""

@overload
def document_recall(
    *, contexts: Column, expected_docs: Column, query: Column | None = None, answer: Column | None = None,
    expected_response: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def document_recall(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
class _umbrela(Asking, total=False):
    variant: Literal['bing', 'basic']

@overload
def umbrela(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_umbrela],
) -> list[Assessment]:
    """How well a passage answers the query; relevant from 2."""

@overload
def umbrela(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_umbrela],
) -> list[list[Assessment]]: ...
@overload
def umbrela(
    *, rows: Rows, **asking: Unpack[_umbrela],
) -> list[list[Assessment]]: ...
class _nuggets(Asking, total=False):
    creation_prompt: str | None
    importance_prompt: str | None
    iterations: int | None

@overload
def nuggets(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_nuggets],
) -> dict[str, Assessment]:
    """How many of the facts that a good answer should hold the answer has."""

@overload
def nuggets(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_nuggets],
) -> list[dict[str, Assessment]]: ...
@overload
def nuggets(
    *, rows: Rows, **asking: Unpack[_nuggets],
) -> list[dict[str, Assessment]]: ...
class _citations(Asking, total=False):
    statements_prompt: str | None

@overload
def citations(
    *, answer: str, contexts: Contexts, query: str | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_citations],
) -> dict[str, Assessment]:
    """How far the cited passages support the answer's sentences."""

@overload
def citations(
    *, answer: Column, contexts: Column, query: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_citations],
) -> list[dict[str, Assessment]]: ...
@overload
def citations(
    *, rows: Rows, **asking: Unpack[_citations],
) -> list[dict[str, Assessment]]: ...
class _hallucination(Asking, total=False):
    revision: str | None
    trust_remote_code: bool
    entailment: int | None
    window_tokens: int
    hypothesis: Literal['sentence', 'answer', 'whole', 'passage']

@overload
def hallucination(
    *, answer: str, contexts: Contexts, query: str | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_hallucination],
) -> Assessment:
    """How far the passages entail the answer, by a cross-encoder; 1 is consistent."""

@overload
def hallucination(
    *, answer: Column, contexts: Column, query: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_hallucination],
) -> list[Assessment]: ...
@overload
def hallucination(
    *, rows: Rows, **asking: Unpack[_hallucination],
) -> list[Assessment]: ...
@overload
def no_answer(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> dict[str, Assessment]:
    """Whether the query was answered at all, rightly or not; strictly, a failed answer counts as none."""

@overload
def no_answer(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[dict[str, Assessment]]: ...
@overload
def no_answer(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[dict[str, Assessment]]: ...
@overload
def golden_similarity(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """How near the answer is to the expected response, by embeddings."""

@overload
def golden_similarity(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def golden_similarity(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
class _factual_correctness(Asking, total=False):
    claims_prompt: str | None

@overload
def factual_correctness(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_factual_correctness],
) -> dict[str, Assessment]:
    """Claims of the answer in the golden answer (precision), and the other way round (recall)."""

@overload
def factual_correctness(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_factual_correctness],
) -> list[dict[str, Assessment]]: ...
@overload
def factual_correctness(
    *, rows: Rows, **asking: Unpack[_factual_correctness],
) -> list[dict[str, Assessment]]: ...
class _answer_correctness_claims(Asking, total=False):
    claims_prompt: str | None
    weights: tuple[float, float]

@overload
def answer_correctness_claims(
    *, query: str, answer: str, expected_response: str, contexts: Contexts | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_answer_correctness_claims],
) -> Assessment:
    """0.75 F1 of claims + 0.25 similarity to the expected response (answer_correctness is the pointwise judge's)."""

@overload
def answer_correctness_claims(
    *, query: Column, answer: Column, expected_response: Column, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_answer_correctness_claims],
) -> list[Assessment]: ...
@overload
def answer_correctness_claims(
    *, rows: Rows, **asking: Unpack[_answer_correctness_claims],
) -> list[Assessment]: ...
class _semantic_similarity(Asking, total=False):
    embedding: str | None
    cross_encoder: str | None
    revision: str | None
    trust_remote_code: bool
    entailment: int | None

@overload
def semantic_similarity(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_semantic_similarity],
) -> Assessment:
    """How near the answer is to the expected response, each whole: cosine of embeddings, or a cross-encoder."""

@overload
def semantic_similarity(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_semantic_similarity],
) -> list[Assessment]: ...
@overload
def semantic_similarity(
    *, rows: Rows, **asking: Unpack[_semantic_similarity],
) -> list[Assessment]: ...
class _sentence_similarity(Asking, total=False):
    embedding: str | None
    shortest: int

@overload
def sentence_similarity(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_sentence_similarity],
) -> dict[str, Assessment]:
    """Each sentence of the answer against the nearest one of the expected response: the mean, and the least."""

@overload
def sentence_similarity(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_sentence_similarity],
) -> list[dict[str, Assessment]]: ...
@overload
def sentence_similarity(
    *, rows: Rows, **asking: Unpack[_sentence_similarity],
) -> list[dict[str, Assessment]]: ...
class _bleu(Asking, total=False):
    tokenize: Literal['13a', 'intl', 'char', 'zh', 'none']

@overload
def bleu(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_bleu],
) -> dict[str, Assessment]:
    """The n-grams that the answer shares with the expected response, n up to 1, 2, 3 and 4; asks no model."""

@overload
def bleu(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_bleu],
) -> list[dict[str, Assessment]]: ...
@overload
def bleu(
    *, rows: Rows, **asking: Unpack[_bleu],
) -> list[dict[str, Assessment]]: ...
@overload
def rouge(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> dict[str, Assessment]:
    """The words, pairs of words and longest sequence shared with the expected response, F1; asks no model."""

@overload
def rouge(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[dict[str, Assessment]]: ...
@overload
def rouge(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[dict[str, Assessment]]: ...
class _classification(Asking, total=False):
    classes: Sequence[str]

@overload
def classification(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_classification],
) -> Assessment:
    """Whether the answer is the expected class; of a run accuracy, precision, recall and F1; asks no model."""

@overload
def classification(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_classification],
) -> list[Assessment]: ...
@overload
def classification(
    *, rows: Rows, **asking: Unpack[_classification],
) -> list[Assessment]: ...
class _answer_relevancy(Asking, total=False):
    embedding: str | None
    questions: int

@overload
def answer_relevancy(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_answer_relevancy],
) -> Assessment:
    """How near the question is to those that the judge writes for the answer; 0 for one that evades it."""

@overload
def answer_relevancy(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_answer_relevancy],
) -> list[Assessment]: ...
@overload
def answer_relevancy(
    *, rows: Rows, **asking: Unpack[_answer_relevancy],
) -> list[Assessment]: ...
class _answer_relevancy_sentences(Asking, total=False):
    embedding: str | None
    shortest: int

@overload
def answer_relevancy_sentences(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_answer_relevancy_sentences],
) -> Assessment:
    """How near the nearest sentence of the answer is to the question, by embeddings."""

@overload
def answer_relevancy_sentences(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_answer_relevancy_sentences],
) -> list[Assessment]: ...
@overload
def answer_relevancy_sentences(
    *, rows: Rows, **asking: Unpack[_answer_relevancy_sentences],
) -> list[Assessment]: ...
class _language_mismatch(Asking, total=False):
    by: Literal['identification', 'judge']
    confidence: float
    least_letters: int

@overload
def language_mismatch(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_language_mismatch],
) -> Assessment:
    """Whether the answer is in another language than the question; 1 is a mismatch; a judge only if wished."""

@overload
def language_mismatch(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_language_mismatch],
) -> list[Assessment]: ...
@overload
def language_mismatch(
    *, rows: Rows, **asking: Unpack[_language_mismatch],
) -> list[Assessment]: ...
class _faithfulness(Asking, total=False):
    claims_prompt: str | None

@overload
def faithfulness(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_faithfulness],
) -> Assessment:
    """The share of the answer's claims that the passages support."""

@overload
def faithfulness(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_faithfulness],
) -> list[Assessment]: ...
@overload
def faithfulness(
    *, rows: Rows, **asking: Unpack[_faithfulness],
) -> list[Assessment]: ...
class _step_alignment_and_completeness(Asking, total=False):
    against: Literal['context', 'expected_response']
    steps_prompt: str | None
    procedure_prompt: str | None

@overload
def step_alignment_and_completeness(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_step_alignment_and_completeness],
) -> dict[str, Assessment]:
    """Whether the answer's steps are those of the procedure in the passages, in their order, and all of them."""

@overload
def step_alignment_and_completeness(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_step_alignment_and_completeness],
) -> list[dict[str, Assessment]]: ...
@overload
def step_alignment_and_completeness(
    *, rows: Rows, **asking: Unpack[_step_alignment_and_completeness],
) -> list[dict[str, Assessment]]: ...
class _groundedness_embeddings(Asking, total=False):
    embedding: str | None
    shortest: int

@overload
def groundedness_embeddings(
    *, answer: str, contexts: Contexts, query: str | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_groundedness_embeddings],
) -> Assessment:
    """How near the least grounded sentence of the answer is to a sentence of the passages (not groundedness)."""

@overload
def groundedness_embeddings(
    *, answer: Column, contexts: Column, query: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_groundedness_embeddings],
) -> list[Assessment]: ...
@overload
def groundedness_embeddings(
    *, rows: Rows, **asking: Unpack[_groundedness_embeddings],
) -> list[Assessment]: ...
@overload
def context_precision(
    *, query: str, contexts: Contexts, expected_response: str, answer: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """Whether the passages that are of use for the expected response stand first (mean P@k at their ranks)."""

@overload
def context_precision(
    *, query: Column, contexts: Column, expected_response: Column, answer: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def context_precision(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def context_recall(
    *, query: str, contexts: Contexts, expected_response: str, answer: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """The share of the expected response's sentences that the passages support."""

@overload
def context_recall(
    *, query: Column, contexts: Column, expected_response: Column, answer: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def context_recall(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def context_relevancy(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """The share of the passages' sentences that help to answer (context_relevance grades whole passages)."""

@overload
def context_relevancy(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def context_relevancy(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def ragas_score(
    *, query: str, answer: str, contexts: Contexts, expected_response: str, expected_docs: Strings | None = None,
    conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """The harmonic mean of faithfulness, answer_relevancy, context_precision and context_recall."""

@overload
def ragas_score(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column, expected_docs: Column | None = None,
    conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def ragas_score(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
class _context_relevancy_soft(Asking, total=False):
    embedding: str | None
    shortest: int

@overload
def context_relevancy_soft(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_context_relevancy_soft],
) -> dict[str, Assessment]:
    """How near the retrieved passages are to the question, by embeddings: the nearest, and on average."""

@overload
def context_relevancy_soft(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_context_relevancy_soft],
) -> list[dict[str, Assessment]]: ...
@overload
def context_relevancy_soft(
    *, rows: Rows, **asking: Unpack[_context_relevancy_soft],
) -> list[dict[str, Assessment]]: ...
class _context_mrr(Asking, total=False):
    embedding: str | None
    shortest: int
    relevant_from: float
    depth: int

@overload
def context_mrr(
    *, query: str, contexts: Contexts, answer: str | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_context_mrr],
) -> Assessment:
    """The reciprocal rank of the first passage with a sentence near the question, by embeddings."""

@overload
def context_mrr(
    *, query: Column, contexts: Column, answer: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_context_mrr],
) -> list[Assessment]: ...
@overload
def context_mrr(
    *, rows: Rows, **asking: Unpack[_context_mrr],
) -> list[Assessment]: ...
class _toxicity(Asking, total=False):
    revision: str | None
    classes: Sequence[str]

@overload
def toxicity(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_toxicity],
) -> dict[str, Assessment]:
    """How toxic, obscene, threatening, insulting or hateful the answer is, by a classifier."""

@overload
def toxicity(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_toxicity],
) -> list[dict[str, Assessment]]: ...
@overload
def toxicity(
    *, rows: Rows, **asking: Unpack[_toxicity],
) -> list[dict[str, Assessment]]: ...
class _fairness_bias(Asking, total=False):
    revision: str | None
    biased: str

@overload
def fairness_bias(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_fairness_bias],
) -> Assessment:
    """How biased the answer is, by a classifier of news."""

@overload
def fairness_bias(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_fairness_bias],
) -> list[Assessment]: ...
@overload
def fairness_bias(
    *, rows: Rows, **asking: Unpack[_fairness_bias],
) -> list[Assessment]: ...
@overload
def sexism(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """Whether the answer is sexist; 1 is yes."""

@overload
def sexism(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def sexism(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def stereotypes(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """Whether the answer holds a stereotype that is not in the question; 1 is yes."""

@overload
def stereotypes(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def stereotypes(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
class _pii_leakage(Asking, total=False):
    ignore: Sequence[str]

@overload
def pii_leakage(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_pii_leakage],
) -> Assessment:
    """Whether the answer holds personal data, by patterns with check digits; 1 is a leak."""

@overload
def pii_leakage(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_pii_leakage],
) -> list[Assessment]: ...
@overload
def pii_leakage(
    *, rows: Rows, **asking: Unpack[_pii_leakage],
) -> list[Assessment]: ...
class _sensitive_data_leakage(Asking, total=False):
    ignore: Sequence[str]

@overload
def sensitive_data_leakage(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_sensitive_data_leakage],
) -> Assessment:
    """Whether the answer holds keys, tokens or passwords, by patterns; 1 is a leak."""

@overload
def sensitive_data_leakage(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_sensitive_data_leakage],
) -> list[Assessment]: ...
@overload
def sensitive_data_leakage(
    *, rows: Rows, **asking: Unpack[_sensitive_data_leakage],
) -> list[Assessment]: ...
@overload
def contact_information_leakage(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """Whether the answer tells contact information, by a judge; 1 is yes."""

@overload
def contact_information_leakage(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def contact_information_leakage(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
class _contact_information_found(Asking, total=False):
    ignore: Sequence[str]

@overload
def contact_information_found(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_contact_information_found],
) -> Assessment:
    """Whether an e-mail address or telephone number stands in the answer, by patterns; 1 is a leak."""

@overload
def contact_information_found(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_contact_information_found],
) -> list[Assessment]: ...
@overload
def contact_information_found(
    *, rows: Rows, **asking: Unpack[_contact_information_found],
) -> list[Assessment]: ...
class _encoding_guardrail(Asking, total=False):
    words: Sequence[str]
    words_file: str | None
    default_words: bool
    checks: Sequence[Literal['words', 'personal', 'secrets']]

@overload
def encoding_guardrail(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_encoding_guardrail],
) -> Assessment:
    """Whether encoded stretches of the answer decode to bad words, personal data or secrets; 1 is a finding."""

@overload
def encoding_guardrail(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_encoding_guardrail],
) -> list[Assessment]: ...
@overload
def encoding_guardrail(
    *, rows: Rows, **asking: Unpack[_encoding_guardrail],
) -> list[Assessment]: ...
class _json_schema(Asking, total=False):
    schema_file: str | None
    fenced: bool

@overload
def json_schema(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_json_schema],
) -> dict[str, Assessment]:
    """Whether answer and retrieved context are JSON and fit a JSON schema; asks no model."""

@overload
def json_schema(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_json_schema],
) -> list[dict[str, Assessment]]: ...
@overload
def json_schema(
    *, rows: Rows, **asking: Unpack[_json_schema],
) -> list[dict[str, Assessment]]: ...
@overload
def text_matching(
    *, answer: str, conditions: Conditions, query: str | None = None, contexts: Contexts | None = None,
    expected_response: str | None = None, expected_docs: Strings | None = None, **asking: Unpack[Asking],
) -> dict[str, Assessment]:
    """Whether answer and context hold the texts and patterns that the query's condition asks for; asks no model."""

@overload
def text_matching(
    *, answer: Column, conditions: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, **asking: Unpack[Asking],
) -> list[dict[str, Assessment]]: ...
@overload
def text_matching(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[dict[str, Assessment]]: ...
@overload
def looping(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> dict[str, Assessment]:
    """Whether the answer repeats itself: sentences, its longest repetition, how far it compresses; asks no model."""

@overload
def looping(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[Asking],
) -> list[dict[str, Assessment]]: ...
@overload
def looping(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[dict[str, Assessment]]: ...
@overload
def loops_found(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """Whether a stretch of the answer is said again and again in a row; 1 is a loop; asks no model."""

@overload
def loops_found(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def loops_found(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
class _agent_sanity(Asking, total=False):
    folder: str | None

@overload
def agent_sanity(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_agent_sanity],
) -> dict[str, Assessment]:
    """Whether the files an agent was to write are there, its JSON parses and no page is empty; asks no model."""

@overload
def agent_sanity(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_agent_sanity],
) -> list[dict[str, Assessment]]: ...
@overload
def agent_sanity(
    *, rows: Rows, **asking: Unpack[_agent_sanity],
) -> list[dict[str, Assessment]]: ...
class _summary_completeness(Asking, total=False):
    document: Literal['context', 'question']

@overload
def summary_completeness(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_summary_completeness],
) -> Assessment:
    """Whether a summary says all that matters in the text it sums up: good or bad."""

@overload
def summary_completeness(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_summary_completeness],
) -> list[Assessment]: ...
@overload
def summary_completeness(
    *, rows: Rows, **asking: Unpack[_summary_completeness],
) -> list[Assessment]: ...
class _summary_faithfulness(Asking, total=False):
    document: Literal['context', 'question']

@overload
def summary_faithfulness(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_summary_faithfulness],
) -> Assessment:
    """Whether a summary says only what the text it sums up says: good or bad."""

@overload
def summary_faithfulness(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_summary_faithfulness],
) -> list[Assessment]: ...
@overload
def summary_faithfulness(
    *, rows: Rows, **asking: Unpack[_summary_faithfulness],
) -> list[Assessment]: ...
class _summary_quality(Asking, total=False):
    document: Literal['context', 'question']

@overload
def summary_quality(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_summary_quality],
) -> Assessment:
    """Whether a summary is comprehensive, concise, coherent and understandable by itself: good or bad."""

@overload
def summary_quality(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_summary_quality],
) -> list[Assessment]: ...
@overload
def summary_quality(
    *, rows: Rows, **asking: Unpack[_summary_quality],
) -> list[Assessment]: ...
@overload
def perplexity(
    *, answer: str, query: str | None = None, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[Asking],
) -> Assessment:
    """How far from expected a language model finds the answer by itself: exp of the mean negative log-likelihood."""

@overload
def perplexity(
    *, answer: Column, query: Column | None = None, contexts: Column | None = None,
    expected_response: Column | None = None, expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[Asking],
) -> list[Assessment]: ...
@overload
def perplexity(
    *, rows: Rows, **asking: Unpack[Asking],
) -> list[Assessment]: ...
class _gptscore_translation(Asking, total=False):
    aspects: Sequence[Literal['accuracy', 'fluency', 'quality']]

@overload
def gptscore_translation(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_gptscore_translation],
) -> dict[str, Assessment]:
    """How likely answer and expected response are as each other's rewording, as translations are judged."""

@overload
def gptscore_translation(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_gptscore_translation],
) -> list[dict[str, Assessment]]: ...
@overload
def gptscore_translation(
    *, rows: Rows, **asking: Unpack[_gptscore_translation],
) -> list[dict[str, Assessment]]: ...
class _gptscore_summarization_with_reference(Asking, total=False):
    aspects: Sequence[Literal['semantic_coverage', 'factuality', 'informativeness', 'coherence', 'relevance', 'fluency']]

@overload
def gptscore_summarization_with_reference(
    *, answer: str, expected_response: str, query: str | None = None, contexts: Contexts | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_gptscore_summarization_with_reference],
) -> dict[str, Assessment]:
    """How likely answer and expected response are as each other's rewording, as summaries are judged."""

@overload
def gptscore_summarization_with_reference(
    *, answer: Column, expected_response: Column, query: Column | None = None, contexts: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_gptscore_summarization_with_reference],
) -> list[dict[str, Assessment]]: ...
@overload
def gptscore_summarization_with_reference(
    *, rows: Rows, **asking: Unpack[_gptscore_summarization_with_reference],
) -> list[dict[str, Assessment]]: ...
class _gptscore_summarization_without_reference(Asking, total=False):
    aspects: Sequence[Literal['semantic_coverage', 'factuality', 'consistency', 'informativeness', 'coherence', 'relevance', 'fluency']]

@overload
def gptscore_summarization_without_reference(
    *, answer: str, contexts: Contexts, query: str | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_gptscore_summarization_without_reference],
) -> dict[str, Assessment]:
    """How likely the answer is as a summary of the passages that the agent retrieved."""

@overload
def gptscore_summarization_without_reference(
    *, answer: Column, contexts: Column, query: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_gptscore_summarization_without_reference],
) -> list[dict[str, Assessment]]: ...
@overload
def gptscore_summarization_without_reference(
    *, rows: Rows, **asking: Unpack[_gptscore_summarization_without_reference],
) -> list[dict[str, Assessment]]: ...
class _gptscore_question_answering(Asking, total=False):
    aspects: Sequence[Literal['interest', 'engagement', 'understandability', 'relevance', 'specificity', 'correctness', 'appropriateness', 'fluency']]

@overload
def gptscore_question_answering(
    *, query: str, answer: str, contexts: Contexts | None = None, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None,
    **asking: Unpack[_gptscore_question_answering],
) -> dict[str, Assessment]:
    """How likely Yes is where it is asked whether the answer to the question is good."""

@overload
def gptscore_question_answering(
    *, query: Column, answer: Column, contexts: Column | None = None, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None,
    **asking: Unpack[_gptscore_question_answering],
) -> list[dict[str, Assessment]]: ...
@overload
def gptscore_question_answering(
    *, rows: Rows, **asking: Unpack[_gptscore_question_answering],
) -> list[dict[str, Assessment]]: ...
class _fact_check(Asking, total=False):
    search: str | None
    searches: int

@overload
def fact_check(
    *, query: str, answer: str, contexts: Contexts, expected_response: str | None = None,
    expected_docs: Strings | None = None, conditions: Conditions | None = None, **asking: Unpack[_fact_check],
) -> Assessment:
    """Whether the answer says nothing false, by a model that may use a search of yours: true or false."""

@overload
def fact_check(
    *, query: Column, answer: Column, contexts: Column, expected_response: Column | None = None,
    expected_docs: Column | None = None, conditions: Column | None = None, **asking: Unpack[_fact_check],
) -> list[Assessment]: ...
@overload
def fact_check(
    *, rows: Rows, **asking: Unpack[_fact_check],
) -> list[Assessment]: ...