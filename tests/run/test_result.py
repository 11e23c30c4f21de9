"""What a search gives, read from runs that are empty, under way, killed or finished."""

import math
import re
from dataclasses import replace

import pytest
from killed_writer import written_until_killed
from runs import (
    CANDIDATES,
    CONFIG,
    GENOMES,
    VERSIONS,
    add_final_evaluations,
    add_generations,
    make_history,
    make_task,
)
from simulated import make_evaluation

from evopinn.api import SearchResult
from evopinn.errors import RunError, StoredModelError
from evopinn.run.architecture import Architecture
from evopinn.store import weights
from evopinn.store.directory import DATABASE
from evopinn.store.reader import Reader
from evopinn.store.store import Store
from evopinn.store.weights import save_weights
from evopinn.training import train
from evopinn.view.run_tables import HALL_OF_FAME


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "one"


@pytest.fixture
def store(directory):
    with Store.create(directory, CONFIG, VERSIONS) as store:
        yield store


@pytest.fixture(scope="module")
def network(oscillator):
    return train(oscillator, "layers=2 neurons=20 activation=tanh(x)", epochs=3)


def keep(directory, network, *numbers):
    """Keep networks that can be told apart by their loss: that is their number."""
    for number in numbers:
        save_weights(directory, number, replace(network, loss=float(number)))


def test_finalists_are_ranked_by_their_means(store, directory):
    add_generations(store)
    with Reader(directory) as reader:
        assert reader.finalists() == []
        add_final_evaluations(store)
        first, second = reader.finalists()
        assert reader.finalists(size=1) == [first]
    assert (first.genome, first.key, first.tasks) == (CANDIDATES[0].text, CANDIDATES[0].key, (8, 9, 10))
    assert first.losses == (0.02, 0.01, 0.03)
    assert first.mean_loss == pytest.approx(0.02, rel=1e-15)
    assert first.mean_error == pytest.approx(0.06, rel=1e-15)
    assert first.errors[1] == {"u": 0.02, "v": 0.03}
    assert (second.genome, second.tasks) == (CANDIDATES[1].text, (11, 12, 13))


@pytest.mark.parametrize(
    ("settings", "mean", "first"),
    [
        ("", "arithmetic", 0),  # a run from before there was a choice
        ('[settings]\nmean = "arithmetic"\n', "arithmetic", 0),
        ('[settings]\nmean = "geometric"\n', "geometric", 1),
    ],
)
def test_finalists_are_ranked_by_the_mean_that_the_run_was_begun_with(tmp_path, settings, mean, first):
    with Store.create(tmp_path / "run", CONFIG + settings, VERSIONS) as store:
        add_final_evaluations(store, (0.02, 0.02, 0.02, 0.001, 0.001, 0.3))
    with Reader(tmp_path / "run") as reader:
        best = reader.finalists()[0]
    assert (best.genome, best.mean) == (CANDIDATES[first].text, mean)
    assert best.mean_error == pytest.approx(3 * best.mean_loss)
    words = "" if mean == "arithmetic" else " (geometric)"
    shown = str(SearchResult(tmp_path / "run"))
    assert f"loss {best.mean_loss:.2e}, error {best.mean_error:.2e}{words}\n" in shown


@pytest.mark.parametrize("mean", ['"median"', "3", '["geometric"]'])
def test_a_mean_that_nobody_knows_is_damage(tmp_path, mean):
    with Store.create(tmp_path / "run", f"{CONFIG}[settings]\nmean = {mean}\n", VERSIONS) as store:
        add_final_evaluations(store)
    with (
        Reader(tmp_path / "run") as reader,
        pytest.raises(RunError, match=r"damaged \(mean is .*\barithmetic or geometric\b"),
    ):
        reader.finalists()


def test_finalists_are_those_settled_so_far_and_failures_rank_last(store, directory):
    add_final_evaluations(store, (math.nan, 0.01))
    with Reader(directory) as reader:
        (only,) = reader.finalists()
        assert (only.tasks, only.losses, only.mean_loss) == ((8, 9), (math.inf, 0.01), math.inf)
        store.record([make_evaluation(10, status="crashed", loss=math.inf, errors={})])
        store.record([make_evaluation(12, loss=5.0)])
        first, second = reader.finalists()
    assert first.tasks == (12,)
    assert second.mean_error is None


def test_a_run_is_running_stopped_or_finished(directory):
    with Store.create(directory, CONFIG, VERSIONS) as store:
        result = SearchResult(directory)
        assert result.state == "running"
        store.note("stopped")
    assert result.state == "stopped"
    with Store.open(directory) as store:
        store.note("finished")
        assert result.state == "finished"
    assert result.state == "finished"


def test_a_result_knows_what_was_searched(store, directory):
    result = SearchResult(str(directory))
    assert (result.directory, result.problem) == (directory, "klein-gordon")
    assert (result.method, result.seed) == ("evo-dpste", 7)


def test_an_empty_run_has_no_best_and_says_so(store, directory):
    result = SearchResult(directory)
    with pytest.raises(RunError, match=rf"{directory} .*\bno network\b"):
        result.best  # noqa: B018
    assert list(result.hall_of_fame) == list(result.finalists) == list(result.evaluations()) == []
    assert result.summary()["best"] is None
    head, reason = str(result).splitlines()
    assert head.endswith(": running")
    assert "no training" in reason
    assert repr(result).endswith(": none)")


def test_the_best_is_the_least_loss_until_there_are_final_evaluations(store, directory, network):
    add_generations(store)
    result = SearchResult(directory)
    least = min(set(range(8)) - {3}, key=lambda number: make_evaluation(number).loss)
    keep(directory, network, *range(14))
    assert result.best.loss == least
    # The winner has the best mean; of its three networks, the best is taken, though another's is better.
    add_final_evaluations(store)
    assert result.best.loss == 9
    assert result.best.predict([[0.5]]).shape == (1, 1)


def test_the_best_may_be_of_an_earlier_training_of_the_winner(store, directory, network):
    store.add_tasks([make_task(0, genome=CANDIDATES[0]), make_task(1, genome=CANDIDATES[1])])
    store.record([make_evaluation(0, loss=0.005), make_evaluation(1, loss=0.0001)])
    add_final_evaluations(store)
    keep(directory, network, 0, *range(8, 14))
    result = SearchResult(directory)
    assert result.best.loss == 0
    assert result.summary()["best"]["loss"] == 0.005
    assert result.summary()["best"]["mean_loss"] == pytest.approx(0.02, rel=1e-15)


def test_a_winner_outside_the_hall_of_fame_has_its_final_networks(store, directory, network):
    better = [genome for genome in GENOMES if genome not in CANDIDATES][:10]
    store.add_tasks(make_task(number, genome=genome, epochs=9) for number, genome in enumerate(better))
    store.record([make_evaluation(number, loss=1e-9) for number in range(10)])
    add_final_evaluations(store, first=20)
    keep(directory, network, *range(26))
    assert SearchResult(directory).best.loss == 21


def test_final_evaluations_that_all_failed_make_no_winner(store, directory, network):
    add_generations(store)
    add_final_evaluations(store, (math.inf, 0.01))
    keep(directory, network, *range(14))
    result = SearchResult(directory)
    assert result.best.loss == result.hall_of_fame[0].task
    assert result.best.loss < 8
    assert result.record.recommended is None
    assert f"`evopinn show {directory}` says why" in str(result)


def test_a_best_that_is_surpassed_while_it_is_loaded_is_not_missed(store, directory, network, monkeypatch):
    store.add_tasks([make_task(0), make_task(1)])
    store.record([make_evaluation(0, loss=0.5)])

    def surpassed(place, number):
        monkeypatch.undo()
        keep(directory, network, 1)
        store.record([make_evaluation(1, loss=0.1)])
        return weights.load_weights(place, number)

    monkeypatch.setattr("evopinn.run.run_result.load_weights", surpassed)
    assert SearchResult(directory).best.loss == 1


def test_a_network_that_is_not_there_is_said(store, directory, network):
    add_generations(store)
    result = SearchResult(directory)
    with pytest.raises(StoredModelError, match=r"/weights/\d{8}\."):
        result.best  # noqa: B018
    with pytest.raises(RunError, match=r"\btask 2\b.*: none"):
        result.weights(2)
    keep(directory, network, 5, 4)
    assert result.weights(5).loss == 5
    with pytest.raises(RunError, match="kept are: 4, 5"):
        result.weights(2)


def test_histories_are_read(store, directory):
    add_generations(store)
    assert SearchResult(directory).history(2) == make_history(2)
    assert SearchResult(directory).history(99) is None


def test_a_result_prints_its_hall_of_fame(store, directory, network):
    add_generations(store)
    result = SearchResult(directory)
    entry = result.hall_of_fame[0]
    lines = str(result).splitlines()
    assert lines[0].startswith("klein-gordon, evo-dpste, seed 7")
    table = lines.index("Hall of fame")
    titles = [column.header for column in HALL_OF_FAME]
    assert re.split("  +", lines[table + 1].strip()) == titles
    structure, activation = Architecture(entry.genome).structure, entry.genome.split(" activation=")[1]
    made_by = ", ".join(entry.operations)
    first = ["1", str(entry.task), f"{entry.loss:.2e}", f"{entry.error:.2e}", "100", "500 ms", "2", made_by]
    cells = re.split("  +", lines[table + 2].strip())
    assert cells == [*first, structure, activation]  # no network tells the number of inputs
    keep(directory, network, entry.task)
    # From 1 coordinate to 1 field: biases and weights of each layer.
    genome = GENOMES[entry.task]
    layers, width = genome.structure.layers, genome.structure.neurons
    parameters = 2 * width + (layers - 2) * (width + 1) * width + width + 1
    assert result.record.hall_of_fame[0].architecture.parameters == parameters
    assert f" {parameters:,} " in str(result)
    assert repr(result) == (
        f"SearchResult('{directory}', problem='klein-gordon', method='evo-dpste', state='running', "
        f"best loss: {entry.loss:.2e})"
    )


def test_a_run_can_be_looked_at_after_its_writer_was_killed(directory):
    with Store.create(directory, CONFIG, VERSIONS) as store:
        store.add_tasks(make_task(number) for number in range(2000))
    reported = written_until_killed(directory, 0.2)
    result = SearchResult(directory)
    assert result.state == "stopped"
    assert result.summary()["trained"] >= len(reported) > 0
    losses = {number: make_evaluation(number).loss for number in reported}
    assert result.hall_of_fame[0].loss <= min(losses.values())


def test_what_is_no_run_is_refused_at_once(tmp_path):
    with pytest.raises(RunError, match=rf"/nothing .*\b{DATABASE}\b"):
        SearchResult(tmp_path / "nothing")
    Store.create(tmp_path / "odd", "problem = ", {}).close()
    with pytest.raises(RunError, match=r"/odd: .* TOML"):
        SearchResult(tmp_path / "odd")
