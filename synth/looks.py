"""What a question looks like, in figures, and whether experts' questions and written ones can be told apart by that.

The same figures are taken of both, each question held against the passage that BM25 finds first for it. No model is
asked. Form is told by words of five languages and by marks of others (`reject.asks`).

Lopez-Paz and Oquab 2017, "Revisiting Classifier Two-Sample Tests", arXiv:1610.06545: a classifier is trained on a part
of both samples, and how well it tells the rest apart says how far they differ. Here it is a logistic regression on
Features, and the measure the area under its ROC curve: .5 where nothing tells them apart, 1 where everything does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ragassay.arrays import Floats, Truths
from ragassay.experiment.workspace import Workspace, read_passages
from ragassay.records import Figure, LookDifference, QuestionsCheck

from .questions.find import shared_words
from .questions.reject import FUNCTION_WORDS, asks, content_of, length_words, tokens_of

K1, B = 1.2, 0.75
"""Lucene's defaults."""


class Passages:
    """The passages of a corpus, searched by their words' stems (bm25s with Lucene's formula)."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._language, self._texts = language, texts
        rows = [self._terms(text) for text in texts]
        self._index: Any = None
        if any(rows):
            import bm25s

            self._index = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64", backend="numpy")
            self._index.index(rows, show_progress=False)

    def best(self, question: str) -> str:
        """The text of the first passage, of equals the first in order; "" where none shares a word with it."""
        terms = self._terms(question)
        if self._index is None or not terms:
            return ""
        scores = self._index.get_scores(terms)
        first = int(scores.argmax())
        return self._texts[first] if scores[first] > 0 else ""

    def _terms(self, text: str) -> list[str]:
        return content_of(_words(text), self._language)


class Features(NamedTuple):
    """The figures of one question. Those from `wh` on are 0 or 1, and just one of the four forms is 1."""

    words: float
    """How many there are; two characters of a script without spaces are one."""
    characters: float
    shared_words: float
    """Share of its content words (stems, each once) that its best passage has, 0 to 1."""
    longest_run: float
    """Share of its words, in a row, that stand in its best passage just so, 0 to 1."""
    identifiers: float
    """How many of its words are names of things: `snake_case`, `CamelCase`, capitals, digits, symbols."""
    wh: float
    """Form: asked with a question word, or as a request."""
    yes_no: float
    """Form: asked without one."""
    statement: float
    """Form: told, not asked: a claim, or what went wrong."""
    keywords: float
    """Form: a phrase for a search box."""
    several_sentences: float


TOLD = {
    "words": "length in words",
    "characters": "length in characters",
    "shared_words": "words shared with the best passage",
    "longest_run": "words in a row taken from the best passage",
    "identifiers": "names of things such as code",
    "wh": "asked with a question word",
    "yes_no": "asked for yes or no",
    "statement": "told as a statement",
    "keywords": "told as keywords",
    "several_sentences": "more than one sentence",
}
"""Each of them in words."""

MOST_KEYWORDS = 8
"""Words of the longest phrase that is taken for keywords, where hardly any is a function word."""

_QUESTION_WORD = re.compile(
    r"\b(?:what|why|how|which|who|whose|whom|where|when|wie|was|warum|weshalb|wieso|wozu|womit|wodurch|welche[mnrs]?|"
    r"wer|wo|wann|wieviele?|comment|pourquoi|quel(?:le)?s?|combien|quand|où|qui|cómo|como|qué|por qu[eê]|cuál(?:es)?|"
    r"cuánt[oa]s?|cuándo|dónde|quién|o que|qua(?:l|is)|quant[oa]s?|quando|onde|quem)\b|"
    r"什么|什麼|如何|怎么|怎麼|怎样|哪|多少|何|どう|なぜ|どの",
    re.IGNORECASE,
)
_AUXILIARY_FIRST = re.compile(
    r"^\W*(?:(?:so|and|but|then|also)\W+)?(?:is|are|am|was|were|do|does|did|has|have|had|can|could|should|shall|will|would|may|might|must|"
    r"isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|can['’]t|won['’]t|shouldn['’]t|ist|sind|kann|können|muss|müssen|"
    r"gibt|hat|haben|darf|soll|est-ce que|peut-on|puis-je|y a-t-il|es|puedo|puede|hay|é|posso|pode|há)\b",
    re.IGNORECASE,
)
_CLAUSE_FIRST = re.compile(r"^\W*(?:when|where|if|wenn|quand|si|cuando|quando)\b[^,?]*,\s*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*(?:\s+|(?<=[。！？]))(?=[^\W\d_a-z]|[¿¡\"'“(\[])")
_ASKED = re.compile(r"[?？؟]\W*$")
_IDENTIFIER = re.compile(r"\d|\w_\w|_\w|\w_|.[A-Z]|[\\/()\[\]{}<>=#$@*&|+~^%]|\w[.:]\w|^--?[A-Za-z]")


def features_of(question: str, passages: Passages, language: str) -> Features:
    """The figures of a question. language: ISO 639, for stems."""
    best, form = passages.best(question), form_of(question)
    asked, there = _words(question), _words(best)
    run = SequenceMatcher(None, there, asked, autojunk=False).find_longest_match().size
    return Features(
        words=float(length_words(question)),
        characters=float(len(question)),
        shared_words=shared_words(question, best, language),
        longest_run=run / len(asked) if asked else 0.0,
        identifiers=float(sum(is_identifier(word) for word in question.split())),
        **{name: float(form == name) for name in ("wh", "yes_no", "statement", "keywords")},
        several_sentences=float(len(sentences(question)) > 1),
    )


def form_of(question: str) -> str:
    """ "wh", "yes_no", "statement" or "keywords": of several sentences the last that asks says which."""
    asking = [sentence for sentence in sentences(question) if _ASKED.search(sentence)]
    if not asking and not asks(question):
        words = _words(question)
        n_function = sum(word in FUNCTION_WORDS for word in words)
        one = len(sentences(question)) == 1 and not question.rstrip().endswith((".", "!", "。"))
        phrase = one and len(words) <= MOST_KEYWORDS and n_function <= len(words) / 4
        return "keywords" if phrase else "statement"
    decisive = _CLAUSE_FIRST.sub("", asking[-1] if asking else question)
    told_to = not _ASKED.search(decisive)
    wh = not _AUXILIARY_FIRST.search(decisive) and (told_to or _QUESTION_WORD.search(decisive))
    return "wh" if wh else "yes_no"


def sentences(text: str) -> list[str]:
    """The sentences of a question: cut after a full stop or a mark where a capital or a quotation follows."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def is_identifier(word: str) -> bool:
    """Whether a word (between spaces) names a thing as code, parts and products are named."""
    bare = re.sub(r"^[\"'“‘„«(\[]+|[\"'”’»)\],.;:!?…]+$", "", word)
    return bool(_IDENTIFIER.search(bare)) or word.rstrip(",.;:!?").endswith("()")


def _words(text: str) -> list[str]:
    return [token.casefold() for token in tokens_of(text)]


Z = 1.959963984540054


def auc(positive: Floats, negative: Floats) -> float:
    """How often a positive's score is above a negative's, ties counting half. Both must have scores."""
    return float((np.sign(positive[:, None] - negative[None, :]) + 1).mean() / 2)


def auc_interval(value: float, m: int, n: int, error: float = 0.0) -> tuple[float, float]:
    """The 95% interval of an area found on m and n (at least 1) scores.

    Newcombe's (2006, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic, part 2",
    Statistics in Medicine 25, method 5): all areas within 1.96 of their own standard error, by Hanley and McNeil's
    formula, of the one found. Unlike DeLong's it has a width where all pairs are in order. Where the standard error is
    known to be larger, `error`, all of these errors are taken to be larger by as many times.
    """
    wider = Z * max(1.0, error / max(_error(min(max(value, 0.01), 0.99), m, n), 1e-9))
    low = _edge(lambda area: value - area - wider * _error(area, m, n), 0.0, value)
    high = _edge(lambda area: value - area + wider * _error(area, m, n), value, 1.0)
    return low, high


def _error(area: float, m: int, n: int) -> float:
    """The standard error of an area under exponential scores, with the mean of both sizes for either."""
    spread = (1 - area) / (2 - area) + area / (1 + area)
    return math.sqrt(area * (1 - area) * (1 + ((m + n) / 2 - 1) * spread) / (m * n))


def _edge(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that falls through zero between two ends does so."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


STEPS, HALVINGS = 50, 20
ENOUGH = 1e-7
"""Steps below which a fit has come to its end."""


def fit_logistic(points: Floats, positive: Truths, times: Floats, ridge: float = 1.0) -> Floats:
    """The intercept and a coefficient a column, for each fit: where |w|²·ridge/2 + the sum of log losses is least.

    points: (fits, rows, columns). positive: (rows,). times: (fits, rows), how often each row counts in each fit. Both
    classes weigh the same, whatever their sizes (n / (2 n_class); scikit-learn's class_weight="balanced"). The
    intercept is not penalised. Newton's method, with half steps where a whole one does not help. Gives (fits,
    columns + 1).
    """
    columns = np.concatenate([np.ones((*points.shape[:2], 1)), points], 2)
    y = positive.astype(float)
    n, n_positive = times.sum(1, keepdims=True), (times @ y)[:, None]
    weights = times * n / (2 * np.maximum(np.where(y > 0, n_positive, n - n_positive), 1))
    penalty = np.full(columns.shape[2], ridge)
    penalty[0] = 0.0
    ridges = np.diag(penalty + 1e-12)
    found = np.zeros((len(columns), columns.shape[2]))
    now = _loss(found, columns, y, weights, penalty)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip((columns @ found[:, :, None])[:, :, 0], -500, 500)))
        slope = ((weights * (p - y))[:, None, :] @ columns)[:, 0] + penalty * found
        curve = (columns * (weights * p * (1 - p))[:, :, None]).transpose(0, 2, 1) @ columns + ridges
        step = np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
        for _ in range(HALVINGS):
            then = _loss(found - step, columns, y, weights, penalty)
            worse = then > now + 1e-9
            if not worse.any():
                break
            step[worse] /= 2
        else:
            then = _loss(found - step, columns, y, weights, penalty)
        found, now = found - step, then
        if np.abs(step).max() < ENOUGH:
            break
    return found


def _loss(found: Floats, columns: Floats, y: Floats, weights: Floats, penalty: Floats) -> Floats:
    margin = (columns @ found[:, :, None])[:, :, 0]
    return np.asarray((weights * (np.logaddexp(0, margin) - y * margin)).sum(1) + found**2 @ penalty / 2)


FEWEST = 10
"""Questions of either side below which the two are not held against each other."""
FOLDS, REPEATS = 10, 20
RESAMPLES, REPEATS_EACH = 80, 5
NOTABLE = 0.2
"""A standardised difference of means that is named (a small one by Cohen 1988)."""


def questions_check(experts: Sequence[Features], written: Sequence[Features], *, seed: int) -> QuestionsCheck:
    """What `questions-check.json` says of how both look; in words where there are questions on either side."""
    area, rows = told_apart(experts, written, seed=seed), differences(experts, written)
    n, n_written = len(experts), len(written)
    said = None
    if area is not None:
        told = [row for row in rows if row.difference is None or abs(row.difference) >= NOTABLE][:3]
        most = ", ".join(f"{TOLD[row.feature]} ({row.experts:.2g} and {row.written:.2g})" for row in told)
        said = (
            f"experts' and written questions are told apart with an AUC of {area.value:.2f} [{area.ci_low:.2f}, "
            f"{area.ci_high:.2f}] on {n} and {n_written} (0.5 is ideal){f'; most by: {most}' if most else ''}"
        )
    elif n and n_written:
        unsaid = "whether experts' and written questions can be told apart is not said"
        said = f"{unsaid} of {n} and {n_written}: it takes {FEWEST} of each"
    return QuestionsCheck(n_experts=n, n_written=n_written, auc=area, features=rows, said=said)


def check_written(workspace: Workspace, experts: Sequence[str], written: Sequence[str]) -> QuestionsCheck:
    """`questions_check` of texts, among the passages of [ingest]. Raises InputError where these cannot be read."""
    language, seed = workspace.experiment.corpus.language, workspace.experiment.questions.seed
    passages = Passages([passage.text for passage in read_passages(workspace.passages)], language)
    looks = ([features_of(text, passages, language) for text in texts] for texts in (experts, written))
    return questions_check(*looks, seed=seed)


def is_told_apart(check: QuestionsCheck) -> bool:
    """Whether the interval of the area lies above .5."""
    return check.auc is not None and check.auc.ci_low is not None and check.auc.ci_low > 0.5


def told_apart(experts: Sequence[Features], written: Sequence[Features], *, seed: int) -> Figure | None:
    """The area under the curve of scores out of fold; None where either has fewer than 10 questions.

    Tenfold, with experts and written in each fold in proportion; a question's score is its mean log-odds over 20 drawn
    divisions. Figures are standardised within each training part. The interval is `auc_interval` with the standard
    error that a bootstrap of all this over both sides' questions finds (80 resamples, a question's copies in one fold):
    the scores of a fold share their training, which makes them vary more than scores of a classifier given beforehand.
    """
    if min(len(experts), len(written)) < FEWEST:
        return None
    return area_told_apart(np.array([*experts, *written], float), len(experts), seed=seed)


def area_told_apart(points: Floats, n_experts: int, *, seed: int) -> Figure:
    """`told_apart` of a row of figures a question, those of the experts first; at least 10 of each."""
    positive = np.arange(len(points)) >= n_experts
    rng, once = np.random.default_rng(seed), np.ones(len(points))
    value = _area(points, positive, once, rng, REPEATS)
    found = []
    for _ in range(RESAMPLES):
        times = np.zeros(len(points))
        for side in map(np.flatnonzero, (positive, ~positive)):
            np.add.at(times, rng.choice(side, len(side)), 1)
        found.append(_area(points, positive, times, rng, REPEATS_EACH))
    low, high = auc_interval(value, int(positive.sum()), int((~positive).sum()), float(np.std(found)))
    return Figure(value=value, n=len(points), ci_low=low, ci_high=high)


def _area(points: Floats, positive: Truths, times: Floats, rng: np.random.Generator, repeats: int) -> float:
    """The area under the curve of mean scores over that many divisions; times: how often each question counts.

    A score is the log-odds that a question is a written one, by a model that was not fitted to it.
    """
    folds = np.empty((repeats, len(points)), int)
    for fold in folds:
        for side in (positive, ~positive):
            fold[side] = rng.permutation(side.sum()) % FOLDS
    train = ((folds[:, None] != np.arange(FOLDS)[:, None]) * times).reshape(-1, len(points))
    total = train.sum(1)[:, None]
    mean = train @ points / total
    spread = np.sqrt(np.maximum(train @ points**2 / total - mean**2, 0))
    scaled = (points - mean[:, None]) / np.where(spread > 1e-6, spread, 1.0)[:, None]
    fitted = fit_logistic(scaled, positive, train)
    fit = np.arange(repeats)[:, None] * FOLDS + folds
    scores = fitted[fit, 0] + (scaled[fit, np.arange(len(points))] * fitted[fit, 1:]).sum(2)
    often, score = times.astype(int), np.round(sum(scores, np.zeros(len(points))) / repeats, 9)
    return auc(np.repeat(score[positive], often[positive]), np.repeat(score[~positive], often[~positive]))


def differences(experts: Sequence[Features], written: Sequence[Features]) -> tuple[LookDifference, ...]:
    """Each feature's means, and their difference in standard deviations (the mean of both variances), largest first."""
    if not experts or not written:
        return ()
    one, other = np.array(experts, float), np.array(written, float)
    spread = np.sqrt((one.var(0) + other.var(0)) / 2)
    found = []
    rows = np.array([one.mean(0), other.mean(0), spread]).T.tolist()
    for name, (a, b, sd) in zip(Features._fields, rows, strict=True):
        apart = (b - a) / sd if sd > 0 else None if a != b else 0.0
        found.append(LookDifference(feature=name, experts=a, written=b, difference=apart))
    return tuple(sorted(found, key=lambda row: (row.difference is not None, -abs(row.difference or 0.0))))


COMPONENTS = 10


def told_apart_by_meaning(
    experts: Sequence[str],
    written: Sequence[str],
    look: Callable[[str], Features],
    embed: Callable[[Sequence[str]], npt.NDArray[np.floating]],
    *,
    seed: int,
) -> Figure | None:
    """The area under the curve, with its interval; None where either has fewer than 10 questions.

    It is `told_apart` on Features and the first principal components of the questions' embeddings: those of both
    samples together, whichever is which, so that they favour neither, and few, since there are a few dozen questions.

    look: the features of a text. embed: texts to a row each; not called where there are too few.
    """
    if min(len(experts), len(written)) < FEWEST:
        return None
    texts = [*experts, *written]
    looks = np.array([look(text) for text in texts], float)
    meanings = principal_components(embed(texts), COMPONENTS)
    return area_told_apart(np.hstack([looks, meanings]), len(experts), seed=seed)


def principal_components(rows: npt.NDArray[np.floating], most: int) -> Floats:
    """Each row's scores on the first `most` principal components of all rows, fewer where they have fewer."""
    centred = np.asarray(rows, np.float64) - np.mean(rows, axis=0, dtype=np.float64)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    kept = min(most, int((sizes > 1e-9).sum()))
    return np.asarray(left[:, :kept] * sizes[:kept])
