"""What screenings, rankings and answers depend on besides files of stages before them: settings, prompts, code of the
user's own, and which queries a chat model rewrites before they are searched. No model library is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from ragassay.experiment.reading import own_modules, tables
from ragassay.experiment.settings import Experiment, is_served
from ragassay.experiment.tables import file_name
from ragassay.experiment.variant_settings import BY_MODEL, SECTIONS, RetrieverSettings
from ragassay.experiment.workspace import Workspace, digest_passages
from ragassay.files import digest_json
from ragassay.models.endpoint import provider_of

PROMPTS = Path(__file__).with_name("agents") / "prompts"
ANSWER_PROMPT, LONG_CONTEXT_PROMPT = PROMPTS / "answer.md", PROMPTS / "long-context.md"
REWRITE_PROMPT = PROMPTS / "rewrite.md"

REWRITING_FAILED = "rewriting the query failed"
"""How the error of an answer begins that nothing was searched for."""

_REACHED = ("alias", "replicas", "timeout_s", "retries", "verify_certificates", "aws_region", "aws_service")
_SHAPES_NOTHING = {"retrieval.url", *(f"opensearch.{key}" for key in _REACHED)}
"""How an OpenSearch server is reached, which shapes no ranking."""


def _retrieval_settings(experiment: Experiment, models: Iterable[str]) -> dict[str, Any]:
    """[retrieval] and what is named of models; a server's settings where one is used."""
    served = ["opensearch"] if experiment.retrieval.engine == "opensearch" else []
    values = tables(experiment, "retrieval", *served, models=tuple(models))
    return {key: value for key, value in values.items() if key not in _SHAPES_NOTHING}


def built_in_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape the rankings of the built-in agents."""
    embedding = experiment.retrieval.embedding
    values = _retrieval_settings(
        experiment, models=(experiment.answer.model, *([embedding] if is_served(embedding) else []))
    )
    values |= {f"answer.{key}": getattr(experiment.answer, key) for key in ("model", "agents", "fusion_queries")}
    values["corpus.language"] = experiment.corpus.language
    if not experiment.retrieval.other_vectors:
        del values["retrieval.embedding_backend"]
    return values


def search_settings(experiment: Experiment, names: Sequence[str]) -> dict[str, Any]:
    """Those that shape what variants of these names find."""
    values: dict[str, Any] = {}
    needed = experiment.variants.needed(names)
    for variant in needed:
        said = variant.settings.model_dump(mode="json", exclude={"name", "of"}, exclude_defaults=True)
        values[f"retriever.{variant.name}"] = {**said, "chunking": variant.chunking, "of": variant.of}
    values |= _brought_by_others(variant.settings.kind for variant in needed)
    searched = {variant.chunking for variant in needed}
    return values | {f"chunking.{one.name}": one.returns for one in experiment.chunkings if one.name in searched}


def _brought_by_others(kinds: Iterable[str]) -> dict[str, str]:
    """Which version of which package brings a kind of retriever that is not ours."""
    from .rankers.ranker import brought

    return {f"retrievers.{kind}": package for kind, package in brought(kinds).items()}


def search_key(workspace: Workspace, variant: str) -> str:
    """The digest of the passages that a variant searches and of what shapes its searches: that others join changes
    nothing."""
    experiment = workspace.experiment
    searched = {one.chunking for one in experiment.variants.needed([variant])}
    if searched & sections_returned(experiment):
        searched.add(SECTIONS)
    retrieval = experiment.retrieval.model_dump(mode="json", include={"engine", "embedding", "k", "rrf_k"})
    settings = search_settings(experiment, [variant]) | retrieval | {"language": experiment.corpus.language}
    return digest_json([digest_passages(workspace.passages, searched), settings])


def sections_returned(experiment: Experiment) -> set[str]:
    """The chunkings of which what is found is handed over as the section that it lies in."""
    return {one.name for one in experiment.chunkings if one.returns == "section"}


def timed_agents(experiment: Experiment) -> set[str]:
    """The agents whose replies are timed: not those of a model that answers through files or batches."""
    models = {name: experiment.answer.model for name, _, _ in experiment.built_in_agents()}
    models |= {agent.name: agent.model for agent in experiment.table_agents()}
    direct = {model for model in models.values() if experiment.settings_of(model).mode != "batch"}
    return {name for name, model in models.items() if model in direct and provider_of(model) != "file"}


def searching_agents(experiment: Experiment) -> dict[str, str]:
    """The agents of tables that have a retriever: name to the variant's."""
    return {agent.name: agent.variant.name for agent in experiment.table_agents() if agent.variant}


def searched_by(experiment: Experiment) -> list[str]:
    """The variants that agents of tables search with."""
    return list(dict.fromkeys(searching_agents(experiment).values()))


def screen_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape the screening. What came later of [ingest] has always stood in its manifest, set or not."""
    values = _retrieval_settings(experiment, models=sorted(rewriting_models(experiment)))
    values |= {f"ingest.{key}": value for key, value in experiment.ingest.model_dump(mode="json").items()}
    values |= {
        "chunking": [one.model_dump(mode="json") for one in experiment.chunking],
        "retriever": [one.model_dump(mode="json") for one in experiment.retriever],
        "search": experiment.search_settings.model_dump(mode="json"),
        "corpus.language": experiment.corpus.language,
    }
    values |= _brought_by_others(one.kind for one in experiment.retriever)
    asked = rewritings_for(experiment)
    return values | ({"rewritings": [one._asdict() for one in asked]} if asked else {})


def rewriting_models(experiment: Experiment) -> set[str]:
    """The models that rewriting and reranking by variants ask."""
    tables = experiment.retriever
    rewriting = {one.rewrite_model or experiment.answer.model for one in tables if one.rewrite in BY_MODEL}
    return rewriting | ({one.rerank for one in tables if one.rerank} & experiment.model_names())


def screen_files(workspace: Workspace) -> list[Path]:
    """The user's own retrievers, and the prompts of what models rewrite."""
    prompts = sorted({prompt_file(workspace, one.way) for one in rewritings_for(workspace.experiment)})
    own = own_modules(workspace, *(one.callable for one in workspace.experiment.retriever if one.callable))
    return [*own, *prompts]


def answers_label(model: str, experiment: Experiment) -> str:
    """The label of requests for answers of a model; of [answer]'s model as ever."""
    return "answers" if model == experiment.answer.model else f"answers-{file_name(model)}"


Way = Literal["fusion", "hyde", "decompose", "step-back", "stand-alone"]
"""What a model is asked, and what is searched then:

- fusion: other queries beside the original, their rankings fused (RAG-Fusion; Rackauckas 2024, arXiv:2402.03367).
- hyde: a passage that could answer, in place of the query (Gao et al. 2023, Precise Zero-Shot Dense Retrieval without
  Relevance Labels, arXiv:2212.10496). The paper takes the mean of the embeddings of eight such passages and the query,
  all embedded as documents; here it is one passage, embedded as a query is, so that every retriever can search it.
- decompose: the simpler questions that it consists of, in place of the query, their rankings fused (Khot et al. 2023,
  Decomposed Prompting, arXiv:2210.02406; Press et al. 2023, self-ask, arXiv:2210.03350). In the papers a question may
  rest on the answer to one before it; here all are written at once.
- step-back: a more general question beside the original, both rankings fused (Zheng et al. 2024, Take a Step Back,
  arXiv:2310.06117). The paper puts both lists of passages into the prompt; here k of them are left.
- stand-alone: the question of a conversation's turn as one asks it without what was said before, in place of the query
  (Elgohary et al. 2019, Can You Unpack That? Learning to Rewrite Questions-in-Context, D19-1605). What has no history
  is searched as it is and not asked for.
"""

OF_TURNS: Final = ("whole-history", "given-stand-alone")
"""Ways that ask nobody, for turns of conversations: all that was said is searched, or `metadata.stand_alone`."""

OF_SEVERAL = ("fusion", "decompose")
"""The ways that write a number of queries; the others write one."""


class Rewriting(NamedTuple):
    """How queries are rewritten: the way, the model that is asked, and how many queries it writes at most."""

    way: Way
    model: str
    n: int


def rewriting_of(settings: RetrieverSettings, experiment: Experiment) -> Rewriting | None:
    """How a retriever has its queries rewritten by a model; None where it has not.

    The model and the number are [answer]'s where the table says nothing of them.
    """
    way = settings.rewrite
    if way == "none" or way == "rm3" or way == "whole-history" or way == "given-stand-alone":
        return None
    n = (settings.rewrite_queries or experiment.answer.fusion_queries) if way in OF_SEVERAL else 1
    return Rewriting(way, settings.rewrite_model or experiment.answer.model, n)


def of_rag_fusion(experiment: Experiment) -> Rewriting:
    """The rewriting of the agents with RAG-Fusion."""
    return Rewriting("fusion", experiment.answer.model, experiment.answer.fusion_queries)


def rewritings_for(experiment: Experiment, names: Sequence[str] | None = None) -> list[Rewriting]:
    """What variants of these names and those that they fuse ask for, each once; without names all variants."""
    variants = experiment.variants.all if names is None else experiment.variants.needed(names)
    found = [rewriting_of(one.settings, experiment) for one in variants]
    return list(dict.fromkeys(one for one in found if one))


def prompt_file(workspace: Workspace, way: Way) -> Path:
    """The prompt of a way; of fusion RAG-Fusion's, or the user's own, where [answer] names one."""
    if way == "fusion":
        return workspace.prompt_file(workspace.experiment.answer.fusion_prompt, REWRITE_PROMPT)
    return Path(__file__).with_name("rewriting") / "prompts" / f"{way}.md"


def rewrites_file(workspace: Workspace, one: Rewriting) -> Path:
    """Named by the way, the model and, where it writes several, how many."""
    number = f"-{one.n}" if one.way in OF_SEVERAL else ""
    return workspace.results / "rewrites" / f"{one.way}{number}-{file_name(one.model)}.jsonl"


def batch_label(one: Rewriting, experiment: Experiment) -> str:
    """That of RAG-Fusion's requests, where it is these."""
    return "rewrites" if one == of_rag_fusion(experiment) else f"rewrites-{one.way}"
