"""What `compare` finds: the records of `results.json`, and as much of `validity.json` as the report shows."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import ConfigDict, Field

from ragassay.records import Figure, LedgerRow, Record, StageUsage, Taken


class AuditFinding(Record):
    """One figure of the judge's audit.

    key: what it is (`flip_rate`, `first_favoured`, `length_effect`, …). subject: of what, where there are several.
    fair: its value for a judge without this fault, where there is one. p: two-sided, of `fair`. sentence: what it means
    for the ranking. warning: set where the fault could have changed the winner.
    """

    key: str
    subject: str = ""
    figure: Figure
    fair: float | None = None
    p: float | None = None
    sentence: str
    warning: str | None = None


class LengthControl(Record):
    """Bradley-Terry ratings (a tie is half a win) without and with a term for the answers' lengths, set to 0.

    mean_length: characters of an agent's answers. note: why there are none, or None.
    """

    mean_length: dict[str, Figure] = Field(default_factory=dict)
    plain: dict[str, Figure] = Field(default_factory=dict)
    controlled: dict[str, Figure] = Field(default_factory=dict)
    note: str | None = None


class FailedReplies(Record):
    """Failed replies of one model in one stage: the share of its calls; `n_refused` of them are refusals."""

    stage: str
    model: str
    failed: Figure
    n_refused: int | None


class Failures(Record):
    """What failed, each counted once and where it happened.

    answers: agent to how many of its answers failed; retrieval: to how many of these have no ranking either. judge_…:
    passages, answers and pairs of answers on which the judge failed, none of them for want of an answer.
    """

    answers: dict[str, int]
    retrieval: dict[str, int]
    judge_passages: int
    judge_answers: int
    judge_games: int


class Audit(Record):
    """What the judge may have got wrong.

    n_identical: pairs whose two answers are the same text, for each judge: ties without a call, and no pair for flips.
    """

    findings: tuple[AuditFinding, ...]
    length: LengthControl
    failures: tuple[FailedReplies, ...]
    n_identical: int = 0


class PairedTest(Record):
    """A paired t-test of two agents on one measure, over the queries on which both have a value.

    `difference` is the mean of a - b; `t`, `df` and `p` (two-sided) are None where the test is not defined.
    """

    measure: str
    agent_a: str
    agent_b: str
    difference: Figure
    t: float | None
    df: int | None
    p: float | None


class NeededQueries(Record):
    """About how many queries in all would decide, with 80% power; `ci_high` None where the two may be equal."""

    value: int | None
    ci_low: int
    ci_high: int | None


NOT_DISTINGUISHABLE: Final = "not distinguishable"
PRACTICALLY_EQUAL: Final = "practically equal"
PairVerdict = Literal["better", "worse", "practically equal", "not distinguishable"]
"""Of one agent against another, at 5%. Practically equal only where it is said how large a difference matters."""


class Comparison(Record):
    """Two agents on one measure, paired by query and clustered by source section.

    difference: the mean of a - b over the queries that both have (n; n_failed are those one of them lacks, which
    `lacking_a` and `lacking_b` name). effect_size: Cohen's d_z, the mean of the differences over their standard
    deviation. p_t: the clustered t-test, which decides; p_wilcoxon and p_sign_flip beside it, all two-sided and over
    sections; p_holm: p_t, corrected over all pairs of agents on the measure. verdict: of a against b, at 5%.
    detectable: the smallest difference that these queries could have shown with 80% power. None: undefined.
    """

    measure: str
    agent_a: str
    agent_b: str
    difference: Figure
    n_sections: int
    effect_size: float | None
    p_t: float | None
    p_wilcoxon: float | None
    p_sign_flip: float | None
    p_holm: float | None
    verdict: PairVerdict
    sentence: str
    detectable: float | None
    needed: NeededQueries | None = None
    lacking_a: tuple[str, ...] = ()
    lacking_b: tuple[str, ...] = ()


class JudgeAgreement(Record):
    """How far the judge agrees with people's labels on one criterion, over the things that both labelled; on `game`
    with who wins (a, tie or b, told of the agent that comes first in the alphabet).

    figures: `kappa`, `krippendorff_alpha(ordinal)`, `tau_b`, `rho`, `bias` (judge - people), `limit_low`, `limit_high`
    (Bland and Altman) and what else `ragassay agree` says, n the things, n_failed those that the judge could not label.
    undefined: why a figure has no value. p: two-sided, of tau_b, rho (whole sections permuted) and bias.
    """

    criterion: str
    n_pairs: int
    n_missing: int
    n_clusters: int
    figures: dict[str, Figure]
    undefined: dict[str, str]
    p: dict[str, float]


class CorrectedFigure(Record):
    """A mean of `agent`, or its difference from `other`, as judged and as people's labels correct it (PPI++).

    measure: as in the other tables, or `win_rate`. n_labels: items with a label by people (for a ranking measure
    queries, for a difference those of both agents). helps: whether the judge's values narrow what the labels alone
    say; None where that cannot be told. note: why there is no corrected value, or why not to lean on it. needed: of a
    mean, how many labels an interval of +- a twentieth of the scale takes (so `n_labels` say; its `n`); no value, or no
    upper end, where labels on every query would not do. p: of a corrected difference, two-sided, of 0; p_holm: the
    same, corrected over all pairs of agents that could be corrected on the measure; verdict: by p_holm, of `agent`
    against `other`, at 5%. All three None where there is no corrected difference.
    """

    measure: str
    agent: str
    other: str | None = None
    judged: Figure
    corrected: Figure
    n_labels: int
    helps: bool | None = None
    note: str | None = None
    needed: Figure | None = None
    p: float | None = None
    p_holm: float | None = None
    verdict: PairVerdict | None = None


class Corrections(Record):
    """What `labels.csv` says about the figures. notes: sentences on the labels as a whole, the gravest first.

    agreement: of the judge with the people, criterion by criterion.
    """

    figures: tuple[CorrectedFigure, ...]
    n_labels: int
    n_people: int
    n_unused: int
    notes: tuple[str, ...] = ()
    agreement: tuple[JudgeAgreement, ...] = ()


class SecondJudgeResults(Record):
    """What a second judge said of a part, drawn with known probabilities, of what was judged.

    n_asked: things drawn (labels of passages and of answers, games), of which n_failed have no label by it. corrected:
    the figures with its labels in the place of people's, and its agreement with the first judge (or the panel).
    """

    judge: str
    share: float
    n_asked: int
    n_failed: int
    corrected: Corrections


WIN_RATE = "win_rate"
"""What the share of games won is called among the measures."""

ANSWERS_OF = "answer_repeats."
"""What the setting of a run begins with that says how often an agent answers each query, where that is not once."""

POINTS = "points"
"""What ranks and tests agents by their games: the mean over opponents of win 1, tie 1/2, loss 0."""

Figures = dict[str, dict[str, Figure]]
"""Agent to the figure's own spelling (`RR(rel=2)@5`, `accuracy`) to the figure.

A figure's `value` is over `n`; `n_failed` more were owed and failed. Shares run from 0 to 1.
"""


class Box(Record):
    """A box plot of one measure of one agent: Tukey's box and whiskers, and the mean with its interval.

    n: values; n_failed: owed and without a value. q1, median, q3: quartiles (linear between values, as numpy's).
    low_whisker, high_whisker: the farthest values within 1.5 interquartile ranges of the box; outliers: all beyond, in
    order. lowest, highest: the ends of the measure's scale, where it has them. None: no value at all.
    """

    n: int
    n_failed: int = 0
    minimum: float | None = None
    q1: float | None = None
    median: float | None = None
    q3: float | None = None
    maximum: float | None = None
    low_whisker: float | None = None
    high_whisker: float | None = None
    outliers: tuple[float, ...] = ()
    mean: Figure
    lowest: float | None = None
    highest: float | None = None


Boxes = dict[str, dict[str, Box]]
"""Agent to measure to box."""


class ModelByPrompt(Record):
    """The agents whose answers one model wrote to one prompt. means: measure to the mean over all their answers.

    prompt: as the experiment or the answers name it.
    """

    model: str
    prompt: str
    agents: tuple[str, ...]
    means: dict[str, Figure]


class AmongJudges(Record):
    """The judges of one criterion. `n` of a figure are the things with two labels or more, n_failed the others.

    figures: `not_unanimous`, the share of things to which not all who labelled them gave the same label, and
    `krippendorff_alpha(ordinal)`. undefined: why a figure has no value.
    """

    criterion: str
    judges: tuple[str, ...]
    figures: dict[str, Figure]
    undefined: dict[str, str] = Field(default_factory=dict)


class JudgeOfPanel(Record):
    """One judge of a panel by itself, from its own records.

    failed: the share of its labels of passages and answers that are errors. agrees: the share of games on which its
    verdict is the panel's; n_failed lack one of the two. leaders: the agents that lead by its verdicts alone, several
    where they are level. What older files say besides is passed over.
    """

    model_config = ConfigDict(extra="ignore")

    judge: str
    failed: Figure
    agrees: Figure
    leaders: tuple[str, ...]
    win_rate: dict[str, Figure]
    audit: Audit


class PanelOfJudges(Record):
    """Several judges side by side, and how far they disagree on each criterion and on games."""

    model_config = ConfigDict(extra="ignore")

    judges: tuple[JudgeOfPanel, ...]
    disagreement: tuple[AmongJudges, ...]


class Perturbed(Record):
    """A query made of another (`ragassay perturb`) beside its original.

    n_originals: those of which something was made. kinds: perturbation to how many queries. thresholds: criterion to
    the label from which an answer is good enough; where less is better (`lower_is_better`), to which.
    flips: agent to criterion to perturbation ("all" first) to the share of its queries, of those where both answers
    have a label (n; n_failed lack one), whose answer is good enough and its original's is not, or the other way round;
    intervals over originals, those of one section together. worse: the same, of those that were good enough and are no
    more. flipped: agent to criterion to the perturbed queries whose answers flip.
    """

    n_originals: int
    kinds: dict[str, int]
    thresholds: dict[str, float]
    lower_is_better: tuple[str, ...] = ()
    flips: dict[str, dict[str, dict[str, Figure]]] = Field(default_factory=dict)
    worse: dict[str, dict[str, dict[str, Figure]]] = Field(default_factory=dict)
    flipped: dict[str, dict[str, tuple[str, ...]]] = Field(default_factory=dict)


class Bounds(Record):
    """A mean with the passages that have no label taken as worst (`low`) and as best (`high`) as they could be."""

    low: Figure
    high: Figure


class LeftOut(Bounds):
    """The same without the labels of the passages that the agent alone brought; `value` takes those as not relevant."""

    value: Figure


class AgentPool(Record):
    """How far labels reach down an agent's rankings.

    judged: the share of its first k passages with a label. n_unique: those of them that it alone brought to the pool.
    bounds: measure to the ends of its mean. left_out: the same had the agent not contributed to the pool.
    """

    judged: Figure
    n_unique: int
    bounds: dict[str, Bounds]
    left_out: dict[str, LeftOut]


class OrdersCompared(Record):
    """The agents' orders by real and by written queries on one measure.

    real, written: agent to its mean, best first (n queries; n_failed have no value). figures: `tau_b` and `rho` of the
    two orders, -1 to 1; `loss`: how much worse, by the real queries, the agent is that leads by the written ones than
    the best; n: the agents that have a place in both. undefined: why a figure has no value. best_real, best_written:
    who leads, several where they are level.
    n_decided: of `n_pairs` pairs, those that the real queries decide: the 95% interval of the paired difference leaves
    out 0, uncorrected. Of these the written ones decide `n_same` the same way, leave `n_open` open and decide
    `contradicted` the other way (by the real ones the first is the better).
    """

    measure: str
    real: dict[str, Figure]
    written: dict[str, Figure]
    figures: dict[str, Figure] = Field(default_factory=dict)
    undefined: dict[str, str] = Field(default_factory=dict)
    best_real: tuple[str, ...] = ()
    best_written: tuple[str, ...] = ()
    n_pairs: int = 0
    n_decided: int = 0
    n_same: int = 0
    n_open: int = 0
    contradicted: tuple[tuple[str, str], ...] = ()


class WrittenAndReal(Record):
    """Whether queries that models wrote and those of the user's own agree, where a test set has both."""

    n_real: int
    n_written: int
    measures: tuple[OrdersCompared, ...]


class ThresholdShares(Record):
    """How many of an agent's answers are good enough by one criterion, and what the others fail of.

    passed, failed: of the answers with a label; n_failed have none. retrieval_failures, generation_failures,
    unexplained_failures: the parts of `failed` where nothing relevant was retrieved, where something was, and where
    that is not known; None of a judge of passages, whose label is the mean of an answer's passages. parse_failures: of
    the answers put to the judge, those where its reply could not be read; None of what asks nobody.
    """

    passed: Figure
    failed: Figure
    retrieval_failures: Figure | None = None
    generation_failures: Figure | None = None
    unexplained_failures: Figure | None = None
    parse_failures: Figure | None = None


ByThreshold = dict[str, dict[str, ThresholdShares]]
"""Agent to criterion to shares."""


class Problem(Record):
    """What should be looked at.

    kind: `beyond_threshold` (a mean), `too_short` (answers without a word to embed) or `flips` (answers that cross the
    threshold when their question is asked in changed words). sure: whether it is so beyond chance, by the mean's
    interval; None where that is no question.
    """

    kind: Literal["beyond_threshold", "too_short", "flips"]
    agent: str
    criterion: str | None = None
    figure: Figure
    sure: bool | None = None
    sentence: str


class Insight(Record):
    """What stands out. kind: what it is about, such as `best`, `slowest`, `hardest_question`.

    subject: an agent, or a query's id. figure: what it rests on. told_apart: whether it is so beyond chance; None where
    that was not tested.
    """

    kind: str
    subject: str
    measure: str
    figure: Figure
    told_apart: bool | None = None
    sentence: str


Claim = Literal["decided", "equal", "safe"]


class Choice(Record):
    """What to choose, from one procedure on one scale: points, the mean over opponents of win 1, tie 1/2, loss 0.

    leader: the agent with the most, None where nothing can be said. told: those told from it, untold: the others, both
    best first. possible_best: the leader and the untold; each that is the best is among them with 95%. decided: whether
    none is untold. equal: whether the leader is better than none of the untold by `margin` (points, 0 to 1); safe:
    whether none is better than the leader by it. claims: those of the three that hold, each with its sentence.
    differences: agent to the leader's points less its own, with the interval of the procedure. p_best: how likely each
    is the best, an average and no guarantee. expected_loss: how many points the leader is expected to fall short of the
    best, None where that is not known. overturned_by: how many of the failed games, lost by the leader, undo that it
    would be decided without them; None where none would.
    """

    leader: str | None
    told: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    possible_best: tuple[str, ...] = ()
    decided: bool = False
    equal: bool = False
    safe: bool = False
    margin: float = 0.05
    claims: dict[Claim, str] = Field(default_factory=dict)
    sentence: str
    differences: dict[str, Figure] = Field(default_factory=dict)
    p_best: dict[str, float] = Field(default_factory=dict)
    expected_loss: float | None = None
    overturned_by: int | None = None


class FailuresAtBottom(Record):
    """The figures with answers that failed as the worst there are, in place of being left out.

    failed: agent to how many of its answers failed (the others are not named). An answer that failed loses each game
    that it owed to one that did not, and is level with one that failed too; its labels are 0; where its retrieval
    failed, so are the ranking measures. What the judge failed is missing here as well. leader: the agent with the most
    points then; agrees: whether it is the one that leads where failures are left out.
    """

    failed: dict[str, int]
    agrees: bool
    leader: str | None
    win_rate: dict[str, Figure]
    bradley_terry: dict[str, Figure]
    pointwise: Figures
    retrieval: Figures


class RatingDetail(Record):
    """What is said beside the ratings. `ranks`: agent to the interval of its rank, from 1 (best), by points: the
    possible bests from 1, the others below all that are told above them, and none below one that it is told above.

    ties: how ties entered, by Davidson's model (with its `tie_parameter`, 0 where none was seen) or as half wins.
    triples: how many three agents have a majority between every two; intransitive: those that beat in a circle.
    """

    ranks: dict[str, tuple[int, int]]
    ties: Literal["davidson", "half"]
    tie_parameter: float | None
    triples: int
    intransitive: int


class PassOrFail(Record):
    """Agent Evaluation's verdicts on one agent's answers.

    passed: the share that pass; n_failed could not be decided. root_causes: the first judge failed to how many answers
    failed of it. fixes: root cause to what to do about it.
    """

    passed: Figure
    root_causes: dict[str, int]
    fixes: dict[str, str]


class Stepwise(Record):
    """A system's searches, if it says them, and calls of tools. means: measure to figure.

    recall, complete: after step 1, 2, …, carried forward: the mean share of the evidence found, and the share of
    queries with all of it. pass_hat: the chance that 1, 2, … runs of a query all write as asked. Empty without any.
    """

    means: dict[str, Figure]
    recall: tuple[Figure, ...] = ()
    complete: tuple[Figure, ...] = ()
    pass_hat: tuple[Figure, ...] = ()


class Conversations(Record):
    """Queries that are turns. by_turn ("1", "2", …), by_move: to agent to measure to the mean over those turns.
    price: the same over later turns, less that of the same search by `stand_alone`. all_right: agent to the share of
    conversations of which every answerable turn has the best label; n_failed lack a label, and no other is wrong.
    """

    n_conversations: int
    n_turns: int
    by_turn: dict[str, dict[str, dict[str, Figure]]]
    by_move: dict[str, dict[str, dict[str, Figure]]]
    all_right: dict[str, Figure]
    price: dict[str, dict[str, Figure]] = Field({})


class Results(Record):
    """The whole file. Agents are keys, best first by points.

    points: the mean over an agent's opponents of win 1, tie 1/2, loss 0, on each query and over the queries. wins: row
    agent to column agent to the share of their verdicts that the row agent won (ties are neither's win). win_rate: the
    share of all an agent's verdicts that it won, each pair weighing the same (`win_table`). flip_rate: the share of the
    pairs judged in several orders whose winner changed with the order. first_shown_wins: the share of single decided
    games won by the answer shown first. elo and bradley_terry: ratings from one initial rating, 400 points to a factor
    of ten in the odds. answers: agent to `answered` (share), `latency_s`, `output_tokens`, `cost_usd` (means an
    answer). evaluations: what the evaluators of `[evaluate]` gave (which one: `evaluators`), on the scales of
    `evaluation_scales` (the ends, the upper null where there is none); of passages the mean label of an agent's, and P,
    AP, RR by them. evaluator_families: evaluator to its family. lower_is_better: those of them of which little is good.
    thresholds: criterion to the label from which it is good enough. threshold_shares: how many answers are, and what
    the others fail of. evaluator_tags: what of NIST AI RMF and SR 11-7 they bear on, each tag with its evaluators.
    problems, insights: in sentences. boxes: the spread of every measure over queries. pointwise_labels: agent to
    criterion to label ("0", "1", "2", "failed") to how many. relevance_labels likewise. refusals: agent to the share of
    its answers that decline; empty where that was not asked. panel: where several judges judge. All labels and verdicts
    are then the majority's, flip_rate is over each judge's verdicts, and audit says of the panel only what is not one
    judge's; None, and not in the file, of one judge. second: likewise, where there is a second judge. sources:
    likewise, where some queries are written and some real. perturbed: likewise, where some were made of others: all
    other figures are then of the originals alone. classification: likewise, where answers are judged as classes: agent
    to accuracy, precision, recall and F1. models_by_prompts: likewise, where agents answer by two models and two
    prompts at least. looks: those of a run that may end early, the last being what all figures are of; stopped_early:
    whether it ended with queries of its plan not asked, after which the leader's lead is overstated in all figures;
    None, and not in the file, of a run of fixed length. stepwise: of systems that say their searches or calls of tools.
    conversations: likewise, where queries are turns of some.
    """

    seldom = (
        *("panel", "second", "sources", "perturbed", "classification", "stopped_early", "conversations"),
        *("evaluator_families", "lower_is_better", "thresholds", "threshold_shares", "evaluator_tags", "problems"),
        *("insights", "models_by_prompts", "looks", "stepwise"),
    )

    format: int = 1
    corpus: str
    note: str = ""
    notices: tuple[str, ...] = ()
    settings: dict[str, str | int | float | None]
    agents: tuple[str, ...]
    n_queries: int
    verdict: Choice
    retrieval: Figures
    retrieval_people: Figures = Field(default_factory=dict)
    relevance_labels: dict[str, int]
    n_relevance_failed: int
    pointwise: Figures
    pointwise_labels: dict[str, dict[str, dict[str, int]]]
    refusals: dict[str, Figure] = Field(default_factory=dict)
    evaluations: Figures = Field(default_factory=dict)
    evaluation_scales: dict[str, tuple[float, float | None]] = Field(default_factory=dict)
    evaluators: dict[str, str] = Field(default_factory=dict)
    evaluator_families: dict[str, str] = Field({})
    lower_is_better: tuple[str, ...] = ()
    thresholds: dict[str, float] = Field({})
    threshold_shares: ByThreshold = Field({})
    evaluator_tags: dict[str, tuple[str, ...]] = Field({})
    problems: tuple[Problem, ...] = ()
    insights: tuple[Insight, ...] = ()
    pass_or_fail: dict[str, PassOrFail] = Field(default_factory=dict)
    boxes: Boxes = Field(default_factory=dict)
    answers: dict[str, dict[str, Figure]]
    points: dict[str, Figure]
    wins: Figures
    win_rate: dict[str, Figure]
    flip_rate: Figure
    first_shown_wins: Figure
    elo: dict[str, Figure]
    bradley_terry: dict[str, Figure]
    bradley_terry_note: str | None = None
    rating_detail: RatingDetail | None = None
    tests: tuple[PairedTest, ...] = ()
    usage: tuple[StageUsage, ...] = ()
    ledger: tuple[LedgerRow, ...] = ()
    pool: dict[str, AgentPool] = Field(default_factory=dict)
    pool_people: dict[str, AgentPool] = Field(default_factory=dict)
    audit: Audit | None = None
    comparisons: tuple[Comparison, ...] = ()
    corrected: Corrections | None = None
    failures: Failures | None = None
    failures_at_bottom: FailuresAtBottom | None = None
    panel: PanelOfJudges | None = None
    second: SecondJudgeResults | None = None
    sources: WrittenAndReal | None = None
    perturbed: Perturbed | None = None
    looks: tuple[Taken, ...] = ()
    stopped_early: bool | None = None
    classification: Figures | None = None
    models_by_prompts: tuple[ModelByPrompt, ...] = ()
    stepwise: dict[str, Stepwise] = Field({})
    conversations: Conversations | None = None


class Part(Record):
    """What one question to the set found. said: sentences; warnings: those that speak against the set.

    abstained: why nothing, or not all of it, can be said; None where nothing is left open.
    """

    said: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    abstained: str | None = None
