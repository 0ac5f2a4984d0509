"""From the tables `[[agent]]` to the agents that they make, each with a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .table import TableError
from .variant_settings import AgentSettings
from .variants import LONGEST_NAME, Variant, Variants, distinct_names


class TableAgent(NamedTuple):
    """An agent of a table that we answer for; variant: its retriever, None where it is handed the whole corpus."""

    name: str
    variant: Variant | None
    model: str
    prompt: str | None
    temperature: float | None
    tokens: int | None

    def is_plain(self, model: str) -> bool:
        """Whether it answers as agents do that say nothing of it, by `model`."""
        return self.model == model and self.prompt is None and self.temperature is None


def make_agents(
    tables: Sequence[AgentSettings], variants: Variants, model: str
) -> tuple[TableAgent | AgentSettings, ...]:
    """Each combination of the tables, and of one that names a retriever with several variants each of these."""
    made: list[TableAgent | AgentSettings] = []
    for one, own in zip(tables, distinct_names(tables), strict=True):
        if one.is_own:
            made.append(one.model_copy(update={"name": own}))
            continue
        try:
            found = variants.named(one.retriever) if one.retriever else (None,)
        except ValueError as error:
            raise TableError(f"agent '{one.name}': {error}", "agent", one.name) from None
        for variant in found:
            name = own if len(found) == 1 else "-".join([own, *_parts(variant)])
            if len(name) > LONGEST_NAME:
                said = f"agent '{name[:40]}…' has a name of {len(name)} characters"
                raise TableError(f"{said}, and a file's can have {LONGEST_NAME}; shorten it", "agent", one.name)
            said = one.model or model
            made.append(TableAgent(name, variant, said, one.prompt, one.temperature, one.tokens))
    return tuple(made)


def _parts(variant: Variant | None) -> list[str]:
    return [variant.name.removeprefix(variant.table).strip("-")] if variant else []
