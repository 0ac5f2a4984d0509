"""Queries rewritten by a chat model before they are searched: which an experiment asks for, their files and prompts.

No model library is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from ragassay.experiment.settings import Experiment
from ragassay.experiment.tables import file_name
from ragassay.experiment.variant_settings import RetrieverSettings
from ragassay.experiment.workspace import Workspace

from ..agents import REWRITE_PROMPT

PROMPTS = Path(__file__).with_name("prompts")
WAY_PROMPTS = {way: PROMPTS / f"{way}.md" for way in ("hyde", "decompose", "step-back", "stand-alone")}
"""By the way of rewriting; that of fusion is RAG-Fusion's."""

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
    """The prompt of a way; of fusion the user's own, where [answer] names one."""
    if way == "fusion":
        return workspace.prompt_file(workspace.experiment.answer.fusion_prompt, REWRITE_PROMPT)
    return WAY_PROMPTS[way]


def rewrites_file(workspace: Workspace, one: Rewriting) -> Path:
    """Named by the way, the model and, where it writes several, how many."""
    number = f"-{one.n}" if one.way in OF_SEVERAL else ""
    return workspace.results / "rewrites" / f"{one.way}{number}-{file_name(one.model)}.jsonl"


def batch_label(one: Rewriting, experiment: Experiment) -> str:
    """That of RAG-Fusion's requests, where it is these."""
    return "rewrites" if one == of_rag_fusion(experiment) else f"rewrites-{one.way}"
