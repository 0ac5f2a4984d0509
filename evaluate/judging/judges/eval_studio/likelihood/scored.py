"""What evaluators by likelihood share: texts after prompts, and the mean negative log-likelihood of their tokens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from statistics import mean
from typing import Any, NamedTuple

from ragassay.errors import InputError
from ragassay.models.likelihood.causal import load_causal
from ragassay.models.likelihood.model import LikelihoodModel
from ragassay.models.requests import Request
from ragassay.prompts import Message
from ragassay.records import Assessment

from ....engine.cases import AnswerCase
from ....engine.evaluator import NO_VALUE, Criterion, Evaluator, Options, Steps
from ....engine.judge import Setup
from ....engine.reply import JudgeFailed


class Given(NamedTuple):
    """A text whose likelihood is wanted, after a prompt; `of` says which of several it is."""

    prompt: str
    text: str
    of: str


def likelihood(name: str) -> Criterion:
    """Natural logarithms, from 0 (certain) to any number; its source sets no threshold."""
    return Criterion(name, 0.0, inf, lower_is_better=True)


class LikelihoodEvaluator(Evaluator):
    """Asks `[evaluate] likelihood_model` for the log-probabilities of texts, each distinct one once.

    Fu et al. 2023 (arXiv:2302.04166), equation 1 with equal weights, and its sign turned: the mean over a text's tokens
    of -log p(token | prompt and the tokens before it). Texts stand in prompts without a fence, since nothing in them is
    obeyed. A text that is one token with nothing before it has no value.
    """

    asks = "model"
    tags = ("valid and reliable", "conceptual soundness", "outcomes analysis")

    def __init__(self, setup: Setup, options: Options | None = None) -> None:
        asked = setup.likelihood
        super().__init__(replace(setup, model=asked.name) if asked else setup, options)
        self._kept: dict[tuple[str, str], tuple[float, ...] | str] = {}

    @property
    def n_calls(self) -> float:
        """None of a model of this machine."""
        return 0.0 if self._model is not None and self._model.here else self.calls

    @property
    def _model(self) -> LikelihoodModel | None:
        return self.setup.likelihood

    def check_at_hand(self) -> None:
        """Raises InputError where there is no model that gives log-probabilities."""
        if self._model is None:
            remedy = 'name one that gives log-probabilities, such as "transformers:NAME", as evaluate.likelihood_model'
            raise InputError(f"{self.name} asks a model and none is named", remedy=remedy)
        self._model.check(self.name)

    @abstractmethod
    def given(self, case: AnswerCase) -> Mapping[str, Sequence[Given]]:
        """Criterion to the texts whose means it is the mean of. Raises JudgeFailed where there is nothing to score."""

    def label(self, nll: float) -> float:
        """The label of a mean negative log-likelihood: itself."""
        return nll

    def prepare(self, cases: Sequence[AnswerCase]) -> None:
        """Score every distinct text of all cases, where the model is of this machine."""
        if self._model is None or not self._model.here:
            return
        model = load_causal(self._model.name)
        for case in cases:
            for one in self._owing(case):
                if (one.prompt, one.text) not in self._kept:
                    try:
                        self._kept[one.prompt, one.text] = tuple(model.logprobs(one.prompt, one.text))
                    except (ValueError, RuntimeError, IndexError) as error:
                        self._kept[one.prompt, one.text] = f"{self.judge} cannot score it ({error})"

    def _owing(self, case: AnswerCase) -> list[Given]:
        try:
            return [one for several in self.given(case).values() for one in several]
        except JudgeFailed:  # said again by `steps`
            return []

    def steps(self, case: AnswerCase) -> Steps:
        """A request for each text, of a model on a server; none of one of this machine."""
        wanted = self.given(case)
        found = self._kept
        if self._model is None or not self._model.here:
            asked = list(dict.fromkeys((one.prompt, one.text) for several in wanted.values() for one in several))
            replies = yield [Request((Message("user", prompt),), continuation=text) for prompt, text in asked]
            scored = [str(one.error) if one.logprobs is None else one.logprobs for one in replies]
            found = dict(zip(asked, scored, strict=True))
        return [self._mean(case, criterion, several, found) for criterion, several in wanted.items()]

    def _mean(
        self,
        case: AnswerCase,
        criterion: str,
        several: Sequence[Given],
        found: Mapping[tuple[str, str], tuple[float, ...] | str],
    ) -> Assessment:
        means, details = [], list[dict[str, Any]]()
        for one in several:
            logprobs = found[one.prompt, one.text]
            if isinstance(logprobs, str):
                return self.fail(case, f"{one.of}: {logprobs}", criterion=criterion)
            if not logprobs:
                return self.fail(
                    case, f"{NO_VALUE}{one.of} is one token, and nothing is before it", criterion=criterion
                )
            means.append(-mean(logprobs))
            details.append({"of": one.of, "mean_nll": means[-1], "tokens": len(logprobs)})
        try:
            return self.assess(case, self.label(mean(means)), criterion=criterion, details=details)
        except OverflowError:
            return self.fail(case, f"{NO_VALUE}larger than any number that can be kept", criterion=criterion)


def needed(text: str, what: str) -> str:
    """The text without white space around it and lone surrogates. Raises JudgeFailed where nothing is left."""
    if not text.strip():
        raise JudgeFailed(f"{NO_VALUE}the {what} is empty")
    return text.strip().encode("utf-8", "replace").decode()
