"""Statistics: against SciPy, and against sums done by hand."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, wilcoxon

from evopinn.lab.studies.statistics import contrasts, holm, rank_biserial
from evopinn.lab.studies.trials import Sample, Trial, write_csv
from evopinn.store.records import Entry

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def holm_by_definition(values):
    """The least level at which a step-down by Holm's rule rejects each hypothesis.

    The hypotheses of the k smallest values are rejected at a level α if the i-th of them is at most
    α / (m - i + 1) for all i up to k.
    """
    order = np.argsort(values, kind="stable")
    count = len(values)
    corrected = [0.0] * count
    for k in range(count):
        needed = [(count - i) * values[order[i]] for i in range(k + 1)]
        corrected[order[k]] = min(1.0, max(needed))
    return corrected


def test_holm_by_hand() -> None:
    # 4 · 0.005, 3 · 0.01, 2 · 0.03, and 0.04 is raised to the 0.06 before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(P_VALUES)
def test_holm_is_as_defined(values) -> None:
    assert holm(values) == pytest.approx(holm_by_definition(values))


@given(P_VALUES)
def test_holm_lies_between_the_values_and_bonferronis(values) -> None:
    corrected = holm(values)
    for value, each in zip(values, corrected, strict=True):
        assert value <= each <= min(1.0, len(values) * value) + 1e-15
    # It guards against more than the false discovery rate does.
    assert all(np.array(corrected) >= np.asarray(false_discovery_control(values)) - 1e-12)


def test_what_is_not_known_is_not_counted() -> None:
    first, missing, second = holm([0.02, math.nan, 0.03])
    assert (first, second) == pytest.approx((0.04, 0.04))
    assert math.isnan(missing)


def test_the_rank_biserial_correlation_by_hand() -> None:
    # Ranks 1 to 4; the negative difference has rank 2: (1 + 3 + 4 - 2) / 10.
    assert rank_biserial([0.1, -0.2, 0.3, 0.4]) == pytest.approx(0.6)
    assert rank_biserial([0.0, 0.0]) == 0.0
    assert rank_biserial([-1.0, -1.0, 0.0]) == -1.0


@given(st.lists(st.floats(-10, 10).filter(lambda each: abs(each) > 1e-6), min_size=2, max_size=20))
def test_the_rank_biserial_correlation_has_a_sign_and_bounds(differences) -> None:
    effect = rank_biserial(differences)
    assert -1 <= effect <= 1
    assert rank_biserial([-each for each in differences]) == pytest.approx(-effect)
    positive = wilcoxon(differences, alternative="greater", method="approx").statistic
    ranks = len(differences) * (len(differences) + 1) / 2
    assert effect == pytest.approx(2 * positive / ranks - 1)


def test_contrasts_are_scipys_tests_of_logarithms_corrected() -> None:
    rng = np.random.default_rng(0)
    errors = {
        name: {(case, seed): float(10 ** rng.normal(mean, 0.3)) for case in "ab" for seed in range(6)}
        for name, mean in {"one": -3.0, "two": -2.5, "three": -3.1}.items()
    }
    found = contrasts(errors)
    assert [(each.first, each.second) for each in found] == [
        ("one", "two"),
        ("one", "three"),
        ("two", "three"),
    ]
    raw = []
    for each in found:
        first, second = (
            np.log([errors[name][key] for key in errors["one"]]) for name in (each.first, each.second)
        )
        raw.append(wilcoxon(first - second).pvalue)
        assert each.pairs == 12
        assert each.p == pytest.approx(raw[-1])
        assert each.ratio == pytest.approx(math.exp((first - second).mean()))
        assert each.effect == pytest.approx(rank_biserial(first - second))
    assert [each.p_holm for each in found] == pytest.approx(holm_by_definition(raw))
    assert found[0].ratio < 1
    assert found[0].effect < 0


def test_a_failed_training_is_worse_than_any_other() -> None:
    errors = {
        "one": {(1,): 1e-2, (2,): 1e-3, (3,): math.nan, (4,): math.inf, (5,): math.inf},
        "two": {(1,): 1e-3, (2,): 1e-4, (3,): 1e9, (4,): 1e-2, (5,): math.nan},
    }
    (contrast,) = contrasts(errors)
    assert contrast.pairs == 5
    assert contrast.ratio == pytest.approx(10)  # of the two pairs that have one
    assert contrast.effect == 1  # the first is worse wherever they differ
    assert contrast.p == pytest.approx(wilcoxon([1.0, 1.0, 9.0, 9.0]).pvalue)


def test_pairs_of_which_one_is_missing_are_left_out() -> None:
    errors = {"one": {(1,): 1e-2, (2,): 1e-3, (4,): 1e-2}, "two": {(1,): 1e-3, (2,): 1e-3, (7,): 1e-2}}
    (contrast,) = contrasts(errors)
    assert contrast.pairs == 2
    assert contrast.ratio == pytest.approx(math.sqrt(10))
    assert math.isnan(contrast.p)
    assert math.isnan(contrast.p_holm)
    (empty,) = contrasts({"one": {}, "two": {}})
    assert (empty.pairs, empty.effect) == (0, 0.0)
    assert math.isnan(empty.ratio)
    assert contrasts({"one": errors["one"]}) == []


def test_a_spread_is_of_what_is_finite() -> None:
    spread = Sample.of([1.0, math.nan, 2.0, math.inf, 6.0])
    assert (spread.mean, spread.count, spread.failed) == (3.0, 3, 2)
    assert spread.deviation == pytest.approx(math.sqrt(7))  # (4 + 1 + 9) / 2
    assert Sample.of([5.0]) == Sample(5.0, 0.0, 1, 0)
    nothing = Sample.of([math.inf])
    assert (nothing.count, nothing.failed) == (0, 1)
    assert math.isnan(nothing.mean)


def test_the_table_of_trials_has_a_row_each(tmp_path: Path) -> None:
    def entry(errors, loss, seed):
        return Entry(0, 1, True, "finished", loss, errors, 9, 1.5, 0, 0.0, 1.0, "", 1, "", 1.0, "g, h", seed)

    trials = [
        Trial("layers=3", "heat", Path(), entry({"u": 1e-3, "v": 2e-3}, 0.5, 0)),
        Trial("layers=3", "heat", Path(), entry({}, math.inf, 1)),
    ]
    write_csv(tmp_path / "trials.csv", trials)
    with (tmp_path / "trials.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["seed"] for row in rows] == ["0", "1"]
    assert (rows[0]["genome"], float(rows[0]["error_v"]), float(rows[0]["loss"])) == ("g, h", 2e-3, 0.5)
    assert (rows[1]["error_u"], rows[1]["loss"]) == ("nan", "inf")
