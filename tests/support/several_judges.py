"""Three scripted judges: two of one mind, of which one can fail, and one that contradicts them."""

from __future__ import annotations

from dataclasses import replace

from support.scripted_judge import Scripted, fair

from ragassay.models.requests import Reply

PANEL = ("openai:j", "openai:k", "anthropic:l")


class ByModel(Scripted):
    """Three judges: j is sober, k contradicts it, l is sober but fails on what `fails` says."""

    def __init__(self, fails=lambda label, text: False, say=fair):
        super().__init__(say)
        self.fails, self.sober = fails, say

    def _reply(self, batch, request):
        text, batch = request.messages[-1].content, replace(batch, label=batch.label.split("-repeat-")[0])
        if batch.model == PANEL[2] and self.fails(batch.label, text):
            return Reply(error="HTTP 500")
        self.say = contrary if batch.model == PANEL[1] else self.sober
        return super()._reply(batch, request)


def contrary(label, text):
    said = fair(label, text)
    if "verdict" in said:
        return said | {"verdict": {"A": "B", "B": "A", "C": "C"}[said["verdict"]]}
    return {k: {**v, "label": 2 - v["label"]} if isinstance(v, dict) else 2 - v if k == "label" else v
            for k, v in said.items()}  # fmt: skip
