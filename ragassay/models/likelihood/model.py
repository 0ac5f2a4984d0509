"""Which model says how likely a text is: `openai:NAME` at a server that echoes, or `transformers:NAME` here."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...errors import InputError
from ...experiment.model_settings import ModelSettings
from ...text import plain
from ..endpoint import base_url_of, check_model
from .causal import PREFIX, check_causal
from .echo import REMEDY, EchoServer


@dataclass(frozen=True)
class LikelihoodModel:
    """Its name and how it is reached."""

    name: str
    settings: ModelSettings = ModelSettings()

    @property
    def here(self) -> bool:
        """Whether it runs in this process."""
        return self.name.startswith(PREFIX)

    def check(self, what: str) -> None:
        """Raises InputError where it gives `what` no log-probabilities: its server is asked about two words, unpaid.

        A provider's usual address is not asked: what is asked there is paid for.
        """
        if self.here:
            check_causal(self.name)
            return
        if not self.name.startswith("openai:") or self.settings.mode == "batch":
            how = " in batches" if self.settings.mode == "batch" else ""
            problem = f"{what} needs log-probabilities of a text, which {plain(self.name)} does not give{how}"
            raise InputError(problem, remedy=REMEDY)
        address = base_url_of(self.name, self.settings)
        if address is None:
            problem = f"{what} needs log-probabilities of a text, and {plain(self.name)} has no base_url"
            raise InputError(problem, remedy=REMEDY)
        check_model(self.name, self.settings)
        key = os.environ.get("OPENAI_API_KEY") or "none"
        try:
            EchoServer(self.name, address, key, self.settings).score("A ", "word " * 40)
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001  (what a server may answer)
            said = plain(str(error).split("\n")[0])[:200]
            problem = f"{plain(self.name)} at {plain(address)} does not say how likely a text is: {said}"
            raise InputError(problem, remedy=REMEDY) from None
