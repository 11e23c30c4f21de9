"""Figures of a search: what is in them."""

import math
import re

import numpy as np
import pytest
from figured import GENOMES, LOSSES, assert_readable, make_run, marked, texts

import evopinn as ep
from evopinn.genome import Genome
from evopinn.search.task import PROPOSED, Origin, Task
from evopinn.store.reader import Reader
from evopinn.store.records import Evaluation
from evopinn.store.store import Store
from evopinn.view.figures.lineages import kind_of
from evopinn.view.figures.outcomes import pareto_front
from evopinn.view.run_facts import MOST_ACCURATE

figures = ep.figures


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("runs") / "evo")


def proposals(directory, count):
    """A run of Bayesian optimisation, of batches of one."""
    genomes = [Genome.parse(text) for text in GENOMES]
    with Store.create(directory, 'problem = "heat"\nmethod = "bo-fcnet"\nseed = 0\n', {}) as store:
        for number in range(count):
            genome = genomes[number % 3]
            store.add_tasks([Task(number, number + 1, genome, 9, 0, Origin((PROPOSED,)))])
            loss = 1 / (1 + number * 7 % count)
            store.record([Evaluation(number, "finished", loss, 0.0, 1.0, seconds=1.0)])
    return ep.load(directory)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().texts]


def test_generations_have_all_losses_the_best_and_the_quartiles(run):
    ax = figures.generations(run)
    (points,) = marked(ax.figure, "trainings")
    places = points.get_offsets()
    finite = [loss for each in LOSSES.values() for loss in each if math.isfinite(loss)]
    assert places[:, 1].tolist() == finite
    numbers = [number for number, each in LOSSES.items() for loss in each if math.isfinite(loss)]
    assert places[:, 0].round().tolist() == numbers
    searched = [[loss for loss in LOSSES[number] if math.isfinite(loss)] for number in (1, 2)]
    (best,), (median,) = marked(ax.figure, "best"), marked(ax.figure, "median")
    assert best.get_xdata().tolist() == [1, 2]
    assert best.get_ydata().tolist() == [1.0, 0.125]
    np.testing.assert_allclose(median.get_ydata(), [np.median(each) for each in searched])
    (band,) = marked(ax.figure, "quartiles")
    corners = band.get_paths()[0].vertices
    for quarter, (first, second) in ((0.25, (2.0, 0.21875)), (0.75, (8.0, 0.625))):
        assert [1, first] in corners.tolist(), quarter
        assert [2, second] in corners.tolist(), quarter
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("generation", "loss", "log")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "final"]
    assert legend(ax) == ["a training", "quartiles", "median", "best"]


def test_losses_far_above_the_others_are_marked_at_the_edge(tmp_path):
    with Store.create(tmp_path / "run", 'problem = "heat"\n', {}) as store:
        for number in range(20):
            genome = Genome.parse(GENOMES[0])
            store.add_tasks([Task(number, 1, genome, 5, 0, Origin(("initial",)))])
            store.record(
                [Evaluation(number, "finished", 1e30 if number == 7 else 2.0, 0.0, 1.0, seconds=2.0)]
            )
    for figure in (figures.generations, figures.cost):
        ax = figure(tmp_path / "run")
        (above,) = marked(ax.figure, "above")
        ((_, height),) = above.get_offsets()
        assert height < ax.get_ylim()[1] == 60
        assert "1 above" in legend(ax)


def test_single_proposals_have_the_best_so_far(tmp_path):
    ax = figures.generations(proposals(tmp_path / "bo", 9))
    (best,) = marked(ax.figure, "best")
    losses = [1 / (1 + number * 7 % 9) for number in range(9)]
    assert best.get_ydata().tolist() == np.minimum.accumulate(losses).tolist()
    assert "batch" in ax.get_xlabel()
    assert ["best" in label for label in legend(ax)] == [False, True]


def test_a_schedule_is_a_staircase_of_networks_and_epochs(run):
    upper, lower = figures.schedule(run).axes
    (asked,), (epochs,) = marked(upper.figure, "asked for"), marked(upper.figure, "epochs")
    assert asked.get_data().values.tolist() == [6, 4, 4]  # the last are the final evaluations
    assert asked.get_data().edges.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert epochs.get_data().values.tolist() == [10, 20, 30]
    assert upper.get_ylabel() == "networks"
    assert lower.get_ylabel().startswith("epochs")
    assert lower.get_xlabel() == "generation"
    assert [label.get_text() for label in lower.get_xticklabels()] == ["1", "2", "final"]
    assert marked(upper.figure, "planned") == []
    assert not [patch for patch in upper.patches if patch.get_hatch()]  # none is left


def test_what_is_planned_and_not_reached_is_dashed(tmp_path):
    figure = figures.schedule(make_run(tmp_path / "run", upto=4, finished=False))
    networks, epochs = marked(figure, "planned")
    assert networks.get_linestyle() == "--"
    assert networks.get_data().values.tolist() == [4, 3, 12]  # with elitists, and the final evaluations
    assert networks.get_data().edges.tolist() == [1.5, 2.5, 3.5, 4.5]
    assert epochs.get_data().values.tolist() == [20, 40, 40]
    bars = [patch.get_height() for patch in figure.axes[0].patches if hasattr(patch, "get_height")]
    assert bars[0] == 4  # trained, of six
    (rest,) = marked(figure, "not trained yet")
    assert (rest.get_y(), rest.get_height(), rest.get_hatch()) == (4, 2, "////")


def test_a_schedule_has_elitists_and_the_finals_that_are_planned(tmp_path):
    config = """problem = "heat"
method = "evo-dpste"
schedule = {populations = [6, 4, 4], epochs = [10, 20, 40]}
settings = {elitists = 0.25, candidates = 3, evaluations = 4}
"""
    with Store.create(tmp_path / "run", config, {}) as store:
        for number in range(6):
            genome = Genome.parse(GENOMES[number % 3])
            store.add_tasks([Task(number, 1, genome, 10, 0, Origin(("initial",)))])
            store.record([Evaluation(number, "finished", 1.0, 0.0, 1.0)])
    figure = figures.schedule(tmp_path / "run")
    networks, epochs = marked(figure, "planned")
    assert networks.get_data().values.tolist() == [5, 5, 12]
    assert epochs.get_data().values.tolist() == [20, 40, 40]
    without = [line.get_ydata().tolist() for line in marked(figure, "without elitists")]
    assert without == [[4, 4], [4, 4]]
    assert "without elitists" in legend(figure.axes[0])
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()] == ["1", "2", "3", "final"]
    assert_readable(figure)


def test_failures_are_counted_by_kind(run, tmp_path):
    ax = figures.failures(run)
    (bar,) = ax.patches
    assert bar.get_width() == 1
    assert [label.get_text() for label in ax.get_yticklabels()] == ["not-finite"]
    assert "14" in ax.get_xlabel()
    with Store.create(tmp_path / "run", 'problem = "heat"\n', {}) as store:
        store.add_tasks([Task(0, 1, Genome.parse(GENOMES[0]), 5, 0, Origin(("initial",)))])
        store.record([Evaluation(0, "crashed", math.inf, 0.0, 1.0, final=False)])
        store.record([Evaluation(0, "finished", 1.0, 0.0, 1.0)])
    ax = figures.failures(tmp_path / "run")
    assert [bar.get_width() for bar in ax.patches] == [0, 1]
    assert legend(ax) == ["failed", "tried again"]


def test_cost_is_plotted_against_loss_with_the_best_for_their_time(run):
    ax = figures.cost(run)
    (points,) = marked(ax.figure, "trainings")
    losses = np.array([loss for each in LOSSES.values() for loss in each])
    finite = np.isfinite(losses)
    np.testing.assert_array_equal(
        points.get_offsets(), np.stack([np.arange(1.0, 15), losses], axis=1)[finite]
    )
    (front,) = marked(ax.figure, "front")
    assert front.get_xdata().tolist() == [1, 2, 3, 4, 7, 8, 9, 11]
    assert front.get_ydata().tolist() == [8, 4, 2, 1, 0.5, 0.25, 0.125, 0.1]
    assert re.search(r"\btime\b.*\bseconds\b", ax.get_xlabel())
    assert ax.get_ylabel() == "loss"
    labels = texts(ax.figure) + [other.get_ylabel() for other in ax.figure.axes]
    assert any(re.search(r"^generation\b.*\b3\b.*\bfinal\b", label) for label in labels)


def test_nothing_on_the_front_is_beaten():
    rng = np.random.default_rng(0)
    costs, losses = rng.integers(0, 30, 200).astype(float), rng.integers(0, 30, 200).astype(float)
    front = set(pareto_front(costs, losses).tolist())
    pairs = {(costs[index], losses[index]) for index in front}
    for index in range(200):
        beaten = (
            (costs <= costs[index])
            & (losses <= losses[index])
            & ((costs < costs[index]) | (losses < losses[index]))
        ).any()
        assert ((costs[index], losses[index]) in pairs) == (not beaten)


def test_a_composition_has_operators_and_the_spread_of_the_structure(run):
    figure = figures.composition(run)
    operators, layers, neurons, shortcuts = figure.axes
    # Genomes go round: the first generation has two of each, the second three with tanh(x) twice.
    counted = {1: {"tanh": 4, "sin": 4, "mul": 2}, 2: {"tanh": 3, "sin": 2, "mul": 1}}
    for name in ("tanh", "sin", "mul"):
        (first,) = marked(figure, name)
        assert first.get_height() == pytest.approx(counted[1][name] / 10)
    heights = [bar.get_height() for bar in operators.patches]
    assert sum(heights) == pytest.approx(2)
    assert sorted(heights[1::2]) == pytest.approx([1 / 6, 2 / 6, 3 / 6])
    medians = {ax.get_ylabel(): ax.lines[0].get_ydata().tolist() for ax in (layers, neurons, shortcuts)}
    assert list(medians.values()) == [[4, 3], [24, 22], [1, 0.5]]
    named = zip(medians, ("layers", "neurons", "shortcuts"), strict=True)
    assert all(name in label for label, name in named)
    assert "operators" in operators.get_ylabel()
    assert shortcuts.get_xlabel() == "generation"


def test_many_batches_are_shown_in_bins(tmp_path):
    operators, layers, *_ = figures.composition(proposals(tmp_path / "bo", 100)).axes
    assert len(layers.lines[0].get_xdata()) == 25
    assert layers.lines[0].get_xdata()[0] == 2.5  # the middle of four
    assert operators.get_xlim() == (0.5, 100.5)


def test_a_lineage_leads_from_the_initial_population_to_the_best(run):
    ax = figures.lineage(run, size=2)
    (ancestors,) = marked(ax.figure, "ancestors")
    # The winner, 10, is a candidate made of 8; 8 was mutated from 3. 11 and 9 are not of the family.
    assert {"trunk 3-8", "trunk 8-10"} <= gids(ax)
    assert "step 3-8" in gids(ax)
    assert not any(gid.endswith(("-9", "-11")) for gid in gids(ax))
    assert [1, 1.0] in ancestors.get_offsets().tolist()
    (winner,) = marked(ax.figure, "winner")
    assert winner.get_offsets().tolist() == [[3, 0.1]]
    assert "change node" in texts(ax.figure)
    best, hall = legend(ax)[-2:]
    assert best == MOST_ACCURATE
    assert hall.endswith("fame")
    (step,) = marked(ax.figure, "trunk 3-8")
    assert step.get_xdata().tolist() == [1, 2]
    assert step.get_ydata().tolist() == [1.0, 0.125]


def gids(ax):
    return {line.get_gid() for line in ax.lines}


@pytest.mark.parametrize(
    ("operations", "name"),
    [
        (("crossover",), "crossover"),
        (("change neurons", "change node"), "structure mutated"),
        (("insert layer",), "structure mutated"),
        (("add shortcut",), "structure mutated"),
        (("change node",), "activation mutated"),
        (("elitist",), "trained again"),
        (("candidate",), "trained again"),
        (("retrained best",), "trained again"),
    ],
)
def test_each_operation_is_of_a_kind(operations, name):
    assert kind_of(operations).name == name


def test_every_mutation_is_of_a_kind_that_says_what_it_changes():
    from evopinn.genome.variation.activation_mutation import OPERATOR_MUTATIONS, PARAMETER_MUTATIONS
    from evopinn.genome.variation.start_mutation import START_MUTATIONS

    for name in [*OPERATOR_MUTATIONS, *PARAMETER_MUTATIONS]:
        assert kind_of((name,)).name == kind_of((name, "tune start")).name == "activation mutated"
    for name in START_MUTATIONS:
        assert kind_of((name,)).name == "start mutated"


def test_a_damaged_record_whose_lineage_leads_round_is_drawn_all_the_same(tmp_path):
    first, second = (Genome.parse(text) for text in GENOMES[:2])
    with Store.create(tmp_path / "round", 'problem = "heat"\nmethod = "evo-dpste"\nseed = 0\n', {}) as store:
        store.add_tasks([Task(0, 1, first, 9, 0, Origin(("change node",), (1,)))])
        store.add_tasks([Task(1, 2, second, 9, 0, Origin(("change node",), (0, 1)))])
        store.record(
            [Evaluation(number, "finished", 1.0 - number / 2, 0.0, 1.0, seconds=1.0) for number in (0, 1)]
        )
    assert "trunk 0-1" in gids(figures.lineage(ep.load(tmp_path / "round")))


def test_genomes_without_parents_have_no_lineage(tmp_path):
    with pytest.raises(ep.EvopinnError, match="parents"):
        figures.lineage(proposals(tmp_path / "bo", 3))


def test_convergence_of_a_run_has_its_finalists(run):
    losses, errors = figures.convergence(run).axes
    first, second = losses.lines
    # Task 10 and 11 of the first finalist end at 0.1 and 0.3, the others at 0.2 and 0.4.
    assert first.get_ydata()[-1] == pytest.approx(0.2)
    assert second.get_ydata()[-1] == pytest.approx(0.3)
    assert errors.lines[0].get_ydata()[-1] == pytest.approx(0.02)
    assert first.get_label().startswith("1: tanh(x)*sin(x), layers=7")
    assert first.get_label().endswith("(mean of 2)")


def test_what_was_measured_at_a_few_epochs_is_dots_and_says_so(run):
    losses, errors = figures.convergence(run).axes
    assert "dots" not in losses.get_xlabel()  # all five were recorded
    assert "dots" in errors.get_xlabel()
    for line in errors.lines:
        assert (line.get_marker(), line.get_linestyle()) == ("o", ":")
    assert losses.lines[0].get_linestyle() == "-"


def test_before_there_are_finalists_convergence_has_the_best_genomes(tmp_path):
    run = make_run(tmp_path / "run", upto=9, finished=False)
    losses, _ = figures.convergence(run).axes
    assert [line.get_ydata()[-1] for line in losses.lines] == [0.125, 0.25, 0.5]


def test_a_sample_of_genomes_is_spread_over_each_generation(tmp_path):
    with Store.create(tmp_path / "run", 'problem = "heat"\n', {}) as store:
        genomes = [Genome.parse(f"layers=3 neurons={neurons} activation=x") for neurons in range(1, 101)]
        origin = Origin(("initial",))
        store.add_tasks(Task(number, 1, genome, 5, 0, origin) for number, genome in enumerate(genomes))
        store.add_tasks([Task(100, 2, genomes[0], 5, 0, origin)])
    with Reader(tmp_path / "run") as reader:
        sample = reader.genomes(10)
        every = reader.genomes(100)
        assert reader.efforts() == {1: 5, 2: 5}
        assert reader.settled_tasks() == []
    assert [number for number, _ in sample] == [1] * 10 + [2]
    widths = [Genome.parse(text).structure.neurons for number, text in sample if number == 1]
    assert set(np.diff(widths)) == {10}
    assert len(every) == 101
