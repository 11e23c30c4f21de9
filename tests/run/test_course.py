"""The course of the best loss: short, whatever the length of the search."""

import math
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from evopinn.run.progress import BestLoss, LossHistory, best_so_far


def course_of(losses, most=8):
    course = LossHistory(most)
    for loss in losses:
        course.add(loss)
    return course.values


@given(st.lists(st.floats(0, 1e6) | st.just(math.inf) | st.just(math.nan), max_size=200))
def test_a_course_is_short_falls_and_ends_with_the_best(losses):
    values = course_of(losses)
    least = list(accumulate((math.inf if math.isnan(loss) else loss for loss in losses), min))
    assert len(values) <= 8
    assert len(values) >= min(len(losses), 4)
    assert list(values) == sorted(values, reverse=True)
    assert values[-1:] == tuple(least[-1:])
    assert set(values) <= set(least)


def test_a_short_course_has_every_training():
    assert course_of([math.inf, 3.0, 5.0, math.nan, 2.0]) == (math.inf, 3.0, 3.0, 3.0, 2.0)


def test_a_long_course_is_evenly_spaced():
    assert course_of([float(20 - k) for k in range(18)]) == (17.0, 13.0, 9.0, 5.0, 3.0)


def test_losses_on_more_points_begin_anew():
    course = LossHistory()
    for loss, coarseness in [(1e-3, 2.0), (1e-1, 1.0), (1e-4, 2.0), (1e-2, 1.0)]:
        course.add(loss, coarseness)
    assert course.values == (1e-3, 1e-1, 1e-1, 1e-2)


def test_the_best_is_told_when_it_comes():
    best = BestLoss()
    trainings = [(0.5, 2.0), (0.5, 2.0), (math.nan, 1.0), (math.inf, 1.0), (0.9, 1.0), (0.1, 2.0), (0.8, 1.0)]
    told = [best.add(*training) for training in trainings]
    assert told == [True, False, False, False, True, False, True]
    assert best_so_far(*zip(*trainings, strict=True)) == [0.5, 0.5, 0.5, 0.5, 0.9, 0.9, 0.8]
