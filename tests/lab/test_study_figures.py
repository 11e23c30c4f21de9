"""The figures of studies: what is drawn where, checked against what it is drawn from."""

import re

import numpy as np
import pytest
from figured import assert_readable, marked, texts
from matplotlib.collections import TriMesh
from shown import (
    METHODS,
    OURS,
    SEEDS,
    RankedObjective,
    Sensing,
    comparison,
    comparison_trials,
    discoveries,
    error_of,
    make_trial,
    write_comparison,
    write_trainings,
)

import evopinn as ep
from evopinn.catalogue import find_problem
from evopinn.errors import FigureError
from evopinn.lab.studies.comparison.loss_curves import progress
from evopinn.lab.studies.convergence import convergence, looks_of, method_colours
from evopinn.lab.studies.error_maps import error_maps
from evopinn.lab.studies.sensitivity.sensitivity_figures import (
    morris_figure,
    ranking_figure,
    sensitivity_figure,
)
from evopinn.view.figures.mesh import sections
from evopinn.view.figures.style import LINES


@pytest.fixture(scope="module")
def study():
    return comparison()


@pytest.fixture(scope="module")
def networks(study):
    """A network for each discovery; those of a method are the same."""
    trained = {
        method: ep.train(
            "klein-gordon:I",
            "layers=2 neurons=4 activation=tanh(x)",
            epochs=1,
            seed=place,
            optimizer="lbfgs",
            engine="autograd",
        )
        for place, method in enumerate(METHODS)
    }
    return {each.genome: trained[each.method] for each in discoveries(study)}


@pytest.fixture(scope="module")
def carried_out(study, networks, tmp_path_factory):
    directory = tmp_path_factory.mktemp("study")
    write_comparison(study, directory, networks)
    return directory


@pytest.fixture(scope="module")
def trials(study, carried_out):
    return study.trials(carried_out)


def test_convergence_has_a_row_of_plots_for_each_case_and_a_line_for_each_model(study, trials):
    figure = convergence(trials)
    assert_readable(figure)
    assert [ax.get_ylabel() for ax in figure.axes[::2]] == ["loss"] * 2
    assert all(re.search(r"^error\b.*\bu$", ax.get_ylabel()) for ax in figure.axes[1::2])
    assert [ax.get_title(loc="left") for ax in figure.axes[::2]] == ["case I", "case II"]
    models = [each.model for each in discoveries(study)]
    for place, ax in enumerate(figure.axes[1::2]):
        lines = {line.get_gid(): line for line in ax.lines}
        assert sorted(lines) == sorted(models)
        last = np.mean([error_of("evo-dpste", 2, place, seed) for seed in SEEDS])
        assert lines["evo-dpste-2"].get_ydata()[-1] == pytest.approx(last)
        assert lines["evo-dpste-2"].get_xdata()[-1] == 100
    losses = {line.get_gid(): line.get_ydata()[-1] for line in figure.axes[0].lines}
    assert losses["bo-fcnet-1"] == pytest.approx(np.mean([10 * error_of("bo-fcnet", 1, 0, s) for s in SEEDS]))
    assert set(models) <= set(texts(figure))


def test_models_of_a_method_share_a_colour_that_it_has_everywhere():
    looks = looks_of(["evo-1", "evo-2", "bo-fcnet-1"])
    assert looks["evo-1"]["color"] == looks["evo-2"]["color"] != looks["bo-fcnet-1"]["color"]
    assert looks["evo-1"]["linestyle"] != looks["evo-2"]["linestyle"]
    assert method_colours(["evo-dpste"])["evo-dpste"] == method_colours(METHODS)["evo-dpste"]
    assert method_colours(["evo"])["evo"] == method_colours(["evolution"])["evolution"]
    unknown = method_colours(["another", *METHODS])
    assert len(set(unknown.values())) == 1 + len(METHODS)
    assert set(unknown.values()) <= set(LINES)


def test_trainings_without_a_history_are_refused():
    study = comparison()
    with pytest.raises(FigureError, match="no history"):
        convergence([])
    with pytest.raises(FigureError, match="no search"):
        progress({"random": [[]]}, {"random": 10})
    with pytest.raises(FigureError, match="case I "):
        error_maps(comparison_trials(study), "klein-gordon:I")
    with pytest.raises(FigureError, match="no training"):
        sensitivity_figure(Sensing.objectives, Sensing.baseline, [], "klein-gordon:I")
    with pytest.raises(FigureError, match="no objective"):
        ranking_figure([RankedObjective("layers", float("nan"), "3", "9", float("nan"))])


def test_best_losses_fall_with_the_epochs_that_were_spent(study, carried_out):
    courses = study.best_losses(carried_out)
    ax = progress(courses, study.epochs)
    assert_readable(ax.figure)
    for method in METHODS:
        (line,) = marked(ax.figure, method)
        best = [10 * error_of(method, search, 0, 0) for search in (1, 2)]
        assert line.get_ydata()[-1] == pytest.approx(np.sqrt(np.prod(best)))
        assert line.get_xdata()[-1] == study.epochs[method]
    assert f"{OURS} (mean of 2)" in texts(ax.figure)


def test_the_first_losses_do_not_squash_the_others():
    courses = {"random": [[(15, 1e40), (30, 10.0), (400, 1.0)]], "evolution": [[(10, 5.0), (90, 2.0)]]}
    ax = progress(courses, {"random": 800, "evolution": 810})
    low, high = ax.get_ylim()
    assert low == pytest.approx(0.5)
    assert high == pytest.approx(100)


def test_the_cost_begins_where_a_loss_is_in_sight():
    courses = {"random": [[(1, 1e40), (30, 10.0), (400, 1.0)]], "evolution": [[(40, 5.0), (90, 2.0)]]}
    ax = progress(courses, {"random": 800, "evolution": 810})
    assert 15 < ax.get_xlim()[0] < 30


def test_error_maps_are_means_over_the_trainings_of_a_method(study, trials, networks):
    figure = error_maps(trials, "klein-gordon:I")
    assert_readable(figure)
    problem = find_problem("klein-gordon:I")
    section = sections(problem)[-1]
    shown = {ax.get_title(): ax for ax in figure.axes if ax.get_title()}
    assert list(shown) == ["u: exact", *METHODS]
    (exact,) = [each for each in shown["u: exact"].collections if isinstance(each, TriMesh)]
    np.testing.assert_allclose(exact.get_array(), section.reference[:, 0])
    for method in METHODS:
        (mesh,) = [each for each in shown[method].collections if isinstance(each, TriMesh)]
        network = next(networks[each.genome] for each in discoveries(study) if each.method == method)
        error = np.abs(network.predict(section.points) - section.reference)[:, 0]
        np.testing.assert_allclose(mesh.get_array(), np.maximum(error, mesh.norm.vmin), rtol=1e-6)
    norms = {(ax.collections[0].norm.vmin, ax.collections[0].norm.vmax) for ax in list(shown.values())[1:]}
    assert len(norms) == 1  # so that methods compare


def test_error_maps_of_a_line_are_lines(tmp_path):
    network = ep.train(
        "euler-bernoulli",
        "layers=2 neurons=4 activation=tanh(x)",
        epochs=1,
        optimizer="lbfgs",
        engine="autograd",
    )
    genome = "layers=2 neurons=4 shortcuts=none activation=tanh(x)"
    write_trainings(tmp_path / "run", [genome], lambda *_: 0.1, {genome: network})
    trials = [make_trial("random-1", "euler-bernoulli", genome, 0, {"u": 0.1}, tmp_path / "run")]
    figure = error_maps(trials, "euler-bernoulli")
    assert_readable(figure)
    assert len(marked(figure, f"{network.fields[0]} random")) == 1


def test_sensitivity_has_a_row_for_each_objective(tmp_path):
    study = Sensing()
    study.write(tmp_path)
    figure = sensitivity_figure(study.objectives, study.baseline, study.trials(tmp_path), "klein-gordon:I")
    assert_readable(figure)
    assert [ax.get_title(loc="left") for ax in figure.axes[::2]] == ["layers", "activation"]
    strip, course = figure.axes[2:]
    (dots,) = marked(strip, "sin")
    assert sorted(dots.get_offsets()[:, 1]) == pytest.approx([1e-6, 1.1e-6, 1.2e-6])
    bold = [tick.get_text() for tick in strip.get_xticklabels() if tick.get_fontweight() == "bold"]
    assert bold == ["tanh"]
    ends = {line.get_gid(): line.get_ydata()[-1] for line in course.lines}
    assert ends == pytest.approx({"tanh": 1.1e-3, "sin": 1.1e-6})
    with pytest.raises(FigureError, match=r"'v'.* u\."):
        sensitivity_figure(
            study.objectives, study.baseline, study.trials(tmp_path), "klein-gordon:I", field="v"
        )


def test_the_ranking_is_bars_beside_luck():
    study = Sensing()
    ax = ranking_figure(study.ranking([]))
    assert_readable(ax.figure)
    assert [bar.get_width() for bar in ax.patches] == [3.0, 1.0]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["activation", "layers"]
    assert any(re.search("75%.* sin .* tanh", text) for text in texts(ax.figure))
    marks = marked(ax.figure, "noise")
    assert [mark.get_segments()[0][0][0] for mark in marks] == [0.05, 0.05]


def test_mean_effects_are_bars_with_intervals():
    ax = morris_figure(Sensing().morris(None))
    assert_readable(ax.figure)
    assert [bar.get_width() for bar in ax.patches] == [0.8, 0.1]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["neurons", "layers"]
