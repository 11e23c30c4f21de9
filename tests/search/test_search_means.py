"""What the final trainings of a network come to together, and who wins by it."""

import math
from statistics import geometric_mean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import WORKPLANS, drive

from evopinn.errors import SearchError
from evopinn.search import METHODS, GenomeListSettings, Roster, find_method
from evopinn.search.means import check_mean, mean_of

LOSSES = st.lists(st.floats(1e-30, 1e30), min_size=1, max_size=8)
OFTEN_GOOD, ALWAYS_FAIR = (1e-11, 2e-11, 6.8e-6), (2e-7, 3e-7, 6e-7)


@given(LOSSES)
def test_the_geometric_mean_is_that_of_the_standard_library(losses):
    assert mean_of(losses, "geometric") == pytest.approx(geometric_mean(losses), rel=1e-12)


@given(LOSSES)
def test_means_lie_between_the_extremes_and_in_their_order(losses):
    low, high = mean_of(losses, "geometric"), mean_of(losses, "arithmetic")
    assert min(losses) <= low * (1 + 1e-12)
    assert low <= high * (1 + 1e-12)
    assert high <= max(losses) * (1 + 1e-12)


@pytest.mark.parametrize("mean", ["arithmetic", "geometric"])
def test_a_failure_is_not_outweighed(mean):
    assert mean_of((1e-300, 0.0, math.inf), mean) == math.inf


def test_a_loss_of_zero_has_a_mean():
    assert mean_of((0.0, 1.0), "geometric") == 0.0


@pytest.mark.parametrize(
    ("mean", "winner"),
    [("arithmetic", ALWAYS_FAIR), ("geometric", OFTEN_GOOD)],
    ids=["arithmetic", "geometric"],
)
def test_one_bad_start_decides_by_the_arithmetic_mean_only(mean, winner):
    genomes = ("layers=3 neurons=8 activation=sin(x)", "layers=4 neurons=8 activation=tanh(x)")
    losses = {3: OFTEN_GOOD, 4: ALWAYS_FAIR}
    searcher = find_method("listed").make(Roster(genomes, 50), seed=0, settings=GenomeListSettings(mean=mean))
    drive(searcher, lambda task: losses[task.genome.structure.layers][task.seed])
    assert searcher.finalists[0].losses == winner
    assert {each.mean for each in searcher.finalists} == {mean}


@pytest.mark.parametrize("mean", ["arithmetic", "geometric"])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_ranks_its_candidates_by_the_mean_that_is_set(name, mean):
    method = find_method(name)
    searcher = method.make(WORKPLANS[name], seed=0, settings=method.settings(mean=mean))
    drive(searcher, lambda task: 10.0 ** -(task.seed % 12))
    means = [mean_of(each.losses, mean) for each in searcher.finalists]
    assert means == [each.mean_loss for each in searcher.finalists] == sorted(means)


@pytest.mark.parametrize("given", ["median", "", None, 1, ["geometric"]])
def test_other_means_are_refused(given):
    with pytest.raises(SearchError, match=r"mean .*arithmetic .*geometric"):
        check_mean(given)
    for method in (*METHODS, "listed"):
        with pytest.raises(SearchError, match="mean is "):
            find_method(method).settings(mean=given)
