"""Facts of a run, in words that every view shares."""

import math
import re

import pytest

from evopinn.view.run_facts import residual_facts


@pytest.mark.parametrize("held_out", [math.nan, math.inf])
def test_a_residual_that_is_not_finite_on_held_out_points_is_named(held_out):
    residual, *_ = residual_facts({"training": 0.25, "held_out": held_out})
    assert "2.50e-01" in residual.value.text
    assert re.search(r"\bnot finite\b.*\bheld-out\b", residual.value.text)


def test_a_residual_is_told_on_both_kinds_of_points():
    (residual,) = residual_facts({"training": 0.25, "held_out": 0.5})
    assert "2.50e-01" in residual.value.text
    assert "5.00e-01" in residual.value.text
