"""The ranking key: SQL and Python put the same individuals into the same order."""

from itertools import pairwise
from math import inf, nan

import pytest
import runs
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import make_task
from simulated import make_evaluation

from evopinn.genome import Genome
from evopinn.run.progress import BestLoss
from evopinn.search import Rank, Score
from evopinn.search.ranking import LAST
from evopinn.store.browser import Browser, Selection
from evopinn.store.store import Store
from evopinn.store.weights import WeightsKeeper

GENOMES = [Genome.parse(f"layers=3 neurons={n} activation=sin(x)") for n in (8, 10, 12, 14)]
LOSSES = st.sampled_from([0.0, -0.0, 5e-324, 1e-9, 1.0, 1.0 + 2**-52, 1e308, inf, nan])
OUTCOMES = st.lists(
    st.tuples(st.sampled_from(GENOMES), LOSSES, st.sampled_from([1.0, 1.5, 4.0])), min_size=1, max_size=14
)


def recorded(directory, outcomes):
    """A run with these outcomes: genome, loss and coarseness of each task."""
    store = Store.create(directory, runs.CONFIG, runs.VERSIONS)
    store.add_tasks(
        make_task(number, genome=genome, coarseness=coarseness)
        for number, (genome, _, coarseness) in enumerate(outcomes)
    )
    store.record([make_evaluation(number, loss=loss) for number, (_, loss, _) in enumerate(outcomes)])
    return store


def ranks(outcomes):
    """The rank of each task, and its genome."""
    return {
        Rank.of(Score(loss), coarseness=coarseness, task=task): genome
        for task, (genome, loss, coarseness) in enumerate(outcomes)
    }


@settings(deadline=None, max_examples=60)
@given(outcomes=OUTCOMES)
def test_the_hall_of_fame_is_in_the_order_of_the_key(tmp_path_factory, outcomes):
    directory = tmp_path_factory.mktemp("runs") / "run"
    best = {}
    for rank, genome in sorted(ranks(outcomes).items(), key=lambda each: each[0]):
        if not rank.failed:
            best.setdefault(genome.key, rank)
    with recorded(directory, outcomes), Browser(directory) as browser:
        hall_of_fame = browser.hall_of_fame()
        assert [entry.rank for entry in hall_of_fame] == sorted(best.values())
        assert [entry.task for entry in hall_of_fame] == [rank.task for rank in sorted(best.values())]
        # The list of evaluations sorts by the loss alone, whatever the points; equals by task.
        lines = browser.evaluations(Selection(sort="loss")).lines
        assert [line.task for line in lines] == [
            rank.task for rank in sorted(ranks(outcomes), key=lambda rank: (rank.loss, rank.task))
        ]


@pytest.mark.parametrize("failure", [inf, nan, -inf])
def test_a_failure_is_behind_everything_on_as_many_points(failure):
    worst = Rank.of(Score(1e308), task=9)
    assert worst < Rank.of(Score(failure), task=0) < LAST
    assert Rank.of(Score(failure)).failed
    assert not worst.failed


def test_more_points_come_before_a_smaller_loss_and_that_before_an_earlier_task():
    ordered = [
        Rank.of(Score(7.0), coarseness=1.0, task=5),
        Rank.of(Score(1.0), coarseness=2.0, task=3),
        Rank.of(Score(1.0), coarseness=2.0, task=4),
        Rank.of(Score(2.0), coarseness=2.0, task=0),
    ]
    assert all(better < worse for better, worse in pairwise(ordered))


@settings(deadline=None, max_examples=60)
@given(outcomes=OUTCOMES)
def test_the_best_so_far_is_the_least_by_the_key(outcomes):
    best = BestLoss()
    for _, loss, coarseness in outcomes:
        best.add(loss, coarseness)
    found = [rank for rank in ranks(outcomes) if not rank.failed]
    assert best.value == (min(found).loss if found else inf)


def test_a_network_is_kept_where_it_stands_before_the_last_of_the_hall_of_fame(tmp_path, monkeypatch):
    saved = []
    monkeypatch.setattr("evopinn.store.weights.save_weights", lambda _, number, __: saved.append(number))
    outcomes = [(GENOMES[0], 1.0, 2.0), (GENOMES[1], 2.0, 2.0)]
    with recorded(tmp_path / "run", outcomes):
        keeper = WeightsKeeper(tmp_path / "run", size=2)
        for number, loss, coarseness in [(2, 2.0, 2.0), (3, 9.0, 1.0), (4, 1.9, 2.0), (5, nan, 1.0)]:
            keeper.offer(make_task(number, coarseness=coarseness), loss, None)
    assert saved == [3, 4]  # more points, a smaller loss; not the tie that came later, nor the failure
