"""What a setting does: where values are sums of effects, those come back; only balanced cells count."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.screening.verdict import crossed, setting_effects

N = 24
ALONE = clusters_of_rows([f"{at:02d}" for at in range(N)])
SIZE, MODEL = {80: 0.0, 160: 0.1, 320: 0.04}, {"mini": 0.0, "large": 0.2}
DIFFICULTY = np.random.default_rng(6).uniform(0.1, 0.5, N)


def knn(size, model, **more):
    name = f"words-{size}"
    return {"kind": "knn", "chunking": name, "chunking.by": "words", "chunking.size": size, "embedding": model, **more}


ROWS = [knn(size, model) for size, model in product(SIZE, MODEL)]


def values_of(rows, noise=0.0):
    own = np.random.default_rng(8).normal(0, noise, (len(rows), N))
    return np.array([DIFFICULTY + SIZE[r["chunking.size"]] + MODEL[r["embedding"]] for r in rows]) + own


def effects(values, rows):
    return {(each.among, each.setting): each for each in setting_effects(values, rows, ALONE)}


def test_effects_that_were_put_in_come_back():
    found = effects(values_of(ROWS), ROWS)
    assert list(found) == [("knn", "embedding"), ("knn", "chunking.size")]
    model, size = found.values()
    assert {each.level: each.difference.value for each in model.levels} == pytest.approx({"mini": -0.2, "large": 0.2})
    others = {80: -0.07, 160: 0.08, 320: -0.01}
    assert {each.level: each.difference.value for each in size.levels} == pytest.approx(others)
    assert [each.level for each in size.levels] == [80, 160, 320]
    assert (size.n_combinations, size.n_variants, model.n_combinations) == (2, 6, 3)
    assert (size.spread, model.spread) == pytest.approx((0.1, 0.2))


def test_of_two_levels_it_is_the_paired_t_test_corrected_once():
    rows = [knn(80, model) for model in MODEL]
    values = values_of(rows, 0.4)
    [found] = setting_effects(values, rows, ALONE)
    p = ttest_1samp(values[0] - values[1], 0).pvalue
    assert [each.p_holm for each in found.levels] == pytest.approx([p, p], rel=1e-5)
    assert found.matters == (p <= 0.05)


def test_a_combination_that_lacks_a_level_does_not_count():
    rows = [*ROWS, knn(80, "mini", mmr=0.5)]
    values = np.vstack([values_of(ROWS), np.ones(N)])
    found = effects(values, rows)
    assert found["knn", "embedding"].levels[0].mean.value == pytest.approx((DIFFICULTY + 0.14 / 3 + 0.2).mean())
    mmr = found["knn", "mmr"]
    assert (mmr.n_combinations, mmr.n_variants) == (1, 2)


def test_settings_that_never_cross_have_no_effect_of_their_own():
    rows = [knn(80, "mini"), knn(160, "large")]
    assert effects(values_of(rows), rows) == {}


def test_sizes_in_words_and_in_pages_are_not_compared_with_each_other():
    pages = [{**knn(size, "mini"), "chunking": f"pages-{size}", "chunking.by": "pages"} for size in (1, 2)]
    rows = [*ROWS, *pages]
    values = np.vstack([values_of(ROWS), DIFFICULTY, DIFFICULTY + 0.3])
    sizes = [[x.level for x in e.levels] for e in setting_effects(values, rows, ALONE) if e.setting == "chunking.size"]
    assert sorted(sizes) == [[1, 2], [80, 160, 320]]


def test_what_a_level_does_not_have_is_averaged_over():
    rewrites = [{"rewrite": "none"}, {"rewrite": "rm3", "rm3_terms": 10}, {"rewrite": "rm3", "rm3_terms": 20}]
    rows = [{"kind": "bm25", **each} for each in rewrites]
    values = np.stack([DIFFICULTY, DIFFICULTY + 0.1, DIFFICULTY + 0.3])
    found = effects(values, rows)
    assert found["bm25", "rewrite"].levels[1].difference.value == pytest.approx(0.2)
    assert [each.level for each in found["bm25", "rm3_terms"].levels] == [10, 20]


def test_a_query_on_which_a_level_failed_is_left_out_of_all_levels():
    rows = [knn(80, model) for model in MODEL]
    values = values_of(rows)
    values[0, :4] = np.nan
    [found] = setting_effects(values, rows, ALONE)
    assert [(each.mean.n, each.mean.n_failed) for each in found.levels] == [(N - 4, 4)] * 2
    assert [each.mean.value for each in found.levels] == pytest.approx(values[:, 4:].mean(axis=1)[::-1])


def test_a_hybrid_has_its_members_settings_and_kinds_are_compared_over_what_they_share():
    names, settings = [], []
    for size, k1 in product((80, 160), (0.9, 1.2)):
        words = {"chunking": f"words-{size}", "chunking.size": size}
        names += [f"bm25-{size}-{k1}", f"hybrid-{size}-{k1}"]
        hybrid = {"kind": "hybrid", "of": [names[-2], f"knn-{size}"], "weights": [0.3, 0.7]}
        settings += [{"kind": "bm25", "k1": k1, **words}, {**hybrid, **words}]
    for size in (80, 160):
        names.append(f"knn-{size}")
        settings.append({"kind": "knn", "embedding": "mini", "chunking": f"words-{size}", "chunking.size": size})
    rows = crossed(names, settings)
    assert rows[1] == {
        "kind": "hybrid",
        "of": "bm25+knn",
        "weights": "0.3/0.7",
        "bm25.k1": 0.9,
        "knn.embedding": "mini",
        "chunking": "words-80",
        "chunking.size": 80,
    }
    worth = {"bm25": 0.0, "knn": 0.1, "hybrid": 0.3}
    values = np.array([DIFFICULTY + worth[row["kind"]] + 0.1 * (row.get("bm25.k1") == 1.2) for row in rows])
    found = effects(values, rows)
    kinds = {each.level: each.mean.value for each in found["all", "kind"].levels}
    assert kinds == pytest.approx({kind: DIFFICULTY.mean() + more for kind, more in {**worth, "hybrid": 0.35}.items()})
    assert found["hybrid", "bm25.k1"].spread == pytest.approx(0.1)
    assert not found["bm25", "k1"].matters
