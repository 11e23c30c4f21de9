"""Figures of trainings and of solutions: what is in them."""

import math
import re

import numpy as np
import pytest
import torch
from figured import HOSTILE, assert_readable, drawn, make_history, texts

import evopinn as ep
from evopinn.problem import Disk, Grid, Initial, Interval, Polygon, Problem, Rectangle, Reference, Ring, Time
from evopinn.training import History
from evopinn.view.figures.histories import band_of
from evopinn.view.figures.mesh import sections

figures = ep.figures
SMALL = "layers=3 neurons=6 activation=tanh(x)"


def stated(domain, solution=None, **more):
    """A problem on a domain, whatever its equation."""
    return Problem(
        domain=domain,
        fields=more.pop("fields", ["u"]),
        residual=more.pop("residual", lambda u: u + u.x),
        conditions=[],
        points=more.pop("points", Grid(interior=(5,) * domain.dimension, test=(7,) * domain.dimension)),
        solution=solution,
        **more,
    )


def trained(problem, genome=SMALL):
    return ep.train(problem, genome, epochs=2, engine="taylor")


# Convergence


def test_a_band_is_mean_least_and_greatest_of_the_trials():
    short = (np.array([0.0, 1.0, 2.0]), np.array([8.0, 4.0, 2.0]))
    long = (np.array([0.0, 1.0, 2.0, 3.0]), np.array([6.0, 6.0, 4.0, 1.0]))
    found = band_of([short, long])
    assert found.epochs.tolist() == [0, 1, 2, 3]
    assert found.mean.tolist() == [7, 5, 3, 1.5]  # the short one stays at 2
    assert found.least.tolist() == [6, 4, 2, 1]
    assert found.greatest.tolist() == [8, 6, 4, 2]
    assert found.trials == 2


def test_what_is_not_finite_does_not_count():
    values = np.array([4.0, math.nan, 2.0, math.inf])
    found = band_of([(np.arange(4.0), values), (np.arange(2.0), np.array([math.inf, math.nan]))])
    assert (found.epochs.tolist(), found.mean.tolist(), found.trials) == ([0, 2], [4, 2], 1)
    assert band_of([(np.arange(1.0), np.array([math.nan]))]) is None


def test_a_long_course_is_thinned_and_keeps_its_ends():
    found = band_of([(np.arange(100_000.0), np.linspace(2, 1, 100_000))])
    assert len(found.epochs) == 1000
    assert (found.epochs[0], found.epochs[-1], found.mean[-1]) == (0, 99_999, 1)


def test_convergence_has_a_line_and_a_band_for_each_model():
    models = {"first": [make_history(1.0), make_history(3.0)], "second": make_history(2.0)}
    figure = figures.convergence(models)
    losses, errors = figure.axes
    (line,) = (line for line in losses.lines if line.get_gid() == "model 1")
    assert line.get_xdata().tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(line.get_ydata(), [32, 16, 8, 4, 2])
    (band,) = losses.collections
    assert band.get_paths()[0].get_extents().extents.tolist() == [0, 1, 4, 48]
    (line,) = (line for line in errors.lines if line.get_gid() == "model 2")
    np.testing.assert_allclose(line.get_data(), ([0, 4], [3.2, 0.2]))
    assert [ax.get_ylabel().split()[-1] for ax in figure.axes] == ["loss", "error"]
    assert ["dots" in ax.get_xlabel() for ax in figure.axes] == [False, True]
    assert {ax.get_yscale() for ax in figure.axes} == {"log"}
    first, second = (text.get_text() for text in figure.legends[0].texts)
    assert re.search(r"^first\b.*\bmean\b.*\b2\b", first)
    assert second == "second"


def test_steps_of_several_epochs_are_where_they_belong():
    figure = figures.convergence(History((4.0, 2.0, 1.0), (), {}, epochs=(0.0, 2.5, 5.0)))
    (ax,) = figure.axes
    assert ax.lines[0].get_xdata().tolist() == [0, 2.5, 5]


def test_the_error_of_several_fields_is_the_largest_unless_one_is_named():
    history = History((1.0, 1.0), (0, 1), {"u": (0.5, 0.1), "v": (0.4, 0.3)})
    assert figures.convergence(history).axes[1].lines[0].get_ydata().tolist() == [0.5, 0.3]
    one = figures.convergence(history, field="v").axes[1]
    assert one.lines[0].get_ydata().tolist() == [0.4, 0.3]
    assert re.search(r"\berror\b.*\bv$", one.get_ylabel())
    with pytest.raises(ep.EvopinnError, match=r"'w'.* u, v\."):
        figures.convergence(history, field="w")


def test_convergence_refuses_what_has_no_course_or_too_many():
    with pytest.raises(ep.EvopinnError, match="finite"):
        figures.convergence(History((math.nan,), (), {}))
    with pytest.raises(ep.EvopinnError, match="8 models"):
        figures.convergence({str(number): make_history(1.0) for number in range(8)})


def test_hostile_names_of_models_are_shown_as_they_are():
    figure = figures.convergence({HOSTILE: make_history(1.0), "_hidden": make_history(2.0)})
    drawn(figure)
    first, second = (text.get_text() for text in figure.legends[0].texts)
    assert first.replace(r"\$", "$") == HOSTILE.replace("中", "\ufffd")
    assert second.strip() == "_hidden"


# The domain


L_SHAPE = Rectangle((-1, 1), (-1, 1)) - Rectangle((0, 1), (0, 1))
SHAPES = {
    "L": (L_SHAPE, 3.0),
    "ring": (Ring(inner=1, outer=2), 3 * math.pi),
    "hole": (Rectangle((-1, 1), (-1, 1)) - Disk((0, 0), 0.5), 4 - math.pi / 4),
    "triangle": (Polygon([(0, 0), (4, 0), (0, 1)]), 2.0),
    "flat": (Rectangle((0, 100), (0, 0.1)), 10.0),
}


@pytest.mark.parametrize("name", SHAPES)
def test_triangles_fill_a_domain_and_nothing_else(name):
    shape, area = SHAPES[name]
    (section,) = sections(stated(shape))
    corners = section.points[section.triangles]
    assert shape.closure(corners.mean(axis=1)).all()
    sides = corners[:, 1:] - corners[:, :1]
    areas = np.abs(sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0]) / 2
    assert areas.sum() == pytest.approx(area, rel=2e-3)
    assert section.columns[0].min() == pytest.approx(shape.bounds[0, 0])
    assert section.columns[1].max() == pytest.approx(shape.bounds[1, 1])


def test_sections_fix_what_is_not_shown():
    (plane,) = sections(stated(Interval(0, 2) * Time(0, 1)))
    assert (plane.axes, dict(plane.fixed)) == ((1, 0), {})  # time from left to right
    shown = sections(stated(L_SHAPE * Time(0, 2)))
    assert [dict(section.fixed) for section in shown] == [{"t": 0}, {"t": 1}, {"t": 2}]
    assert all((section.points[:, 2] == section.fixed["t"]).all() for section in shown)
    (cut,) = sections(stated(ep.Box((0, 1), (0, 1), (0, 3))))
    assert dict(cut.fixed) == {"z": 1.5}
    (line,) = sections(stated(Interval(-1, 1)))
    assert (line.axes, len(line.triangles)) == ((0,), 0)


def test_of_several_fields_the_last_instant_is_shown():
    problem = stated(L_SHAPE * Time(0, 2), fields=["u", "v"], residual=lambda u, v: u + v)
    assert [dict(section.fixed) for section in sections(problem)] == [{"t": 2}]


@pytest.mark.parametrize("times", [[3.0], [-1.0, 1.0], []])
def test_times_outside_are_refused(times):
    with pytest.raises(ep.EvopinnError, match="between 0 and 2"):
        sections(stated(L_SHAPE * Time(0, 2)), times)


def test_times_are_refused_where_there_are_none_to_choose():
    with pytest.raises(ep.EvopinnError, match="times"):
        sections(stated(Interval(0, 1) * Time(0, 1)), [0.5])


# Solutions


def colours_of(ax):
    """The values that a map colours."""
    (mesh,) = (each for each in ax.collections if each.get_array() is not None)
    return mesh, np.asarray(mesh.get_array())


def test_a_solution_of_one_coordinate_and_time_is_three_maps(transport):
    result = trained(transport)
    figure = figures.solution(result, problem=transport)
    network, reference, difference = figure.axes[:3]
    (section,) = sections(transport)
    x, t = section.points.T
    exact = np.sin(x - t)
    for ax, wanted in ((network, result.predict(section.points)[:, 0]), (reference, exact)):
        mesh, values = colours_of(ax)
        np.testing.assert_allclose(values, wanted, atol=1e-12)
        both = np.concatenate([exact, result.predict(section.points)[:, 0]])
        assert (mesh.norm.vmin, mesh.norm.vmax) == pytest.approx((both.min(), both.max()))
    mesh, values = colours_of(difference)
    np.testing.assert_allclose(values, np.abs(result.predict(section.points)[:, 0] - exact), atol=1e-12)
    assert mesh.norm.vmin == 0
    assert (network.get_xlabel(), network.get_ylabel(), network.get_xlim()) == ("t", "x", (0, 1))
    titles = [ax.get_title() for ax in figure.axes[:3]]
    assert all(title.startswith("u: ") for title in titles)
    assert [title.split()[-1] for title in titles] == ["network", "reference", "error"]
    (title,) = (text for text in texts(figure) if text.startswith("transport: "))
    assert title.endswith(f" u {result.errors['u']:.2e}")


def test_several_fields_and_times_have_a_row_each():
    problem = stated(
        L_SHAPE * Time(0, 2),
        lambda x, y, t: (x + t, y * t),
        fields=["u", "v"],
        residual=lambda u, v: u.x + v.y,
    )
    result = trained(problem)
    figure = figures.solution(result, problem=problem, times=[0.5, 2])
    maps = [ax for ax in figure.axes if ax.get_title()]
    rows = [ax.get_title().partition(": ") for ax in maps[1::3]]
    assert [row for row, *_ in rows] == ["u, t = 0.5", "u, t = 2", "v, t = 0.5", "v, t = 2"]
    assert {kind for *_, kind in rows} == {"reference"}
    first, last = sections(problem, [0.5, 2])
    np.testing.assert_allclose(colours_of(maps[1])[1], first.points[:, 0] + 0.5)
    np.testing.assert_allclose(colours_of(maps[10])[1], last.points[:, 1] * 2)
    assert {ax.get_aspect() for ax in maps} == {1.0}
    assert_readable(figure)
    only = figures.error(result, problem=problem, times=[1], fields=["v"])
    (title,) = (ax.get_title() for ax in only.axes if ax.get_title())
    assert re.search(r"\berror\b.*\bv, t = 1$", title)
    assert_readable(figures.error(result, problem=problem, times=[0, 1, 2]))
    with pytest.raises(ep.EvopinnError, match=r"'w'.* u, v\."):
        figures.solution(result, problem=problem, fields=["w"])


def test_a_reference_is_shown_on_its_own_points_at_the_nearest_time():
    x, y, t = (axis.ravel() for axis in np.meshgrid([0.0, 0.5, 1.0], [0.0, 1.0], [0.0, 0.4, 1.0]))
    reference = Reference(np.stack([x, y, t], axis=1), {"u": x + 10 * t})
    problem = stated(Rectangle() * Time(0, 1), reference)
    figure = figures.solution(trained(problem), problem=problem, times=[0.5])
    values = colours_of(figure.axes[1])[1]
    assert sorted(values) == pytest.approx([4.0, 4.0, 4.5, 4.5, 5.0, 5.0])
    assert figure.axes[1].get_title() == "u, t = 0.4: reference"


def test_a_solution_of_one_coordinate_is_lines(oscillator):
    result = trained(oscillator)
    values, difference = figures.solution(result, problem=oscillator).axes
    network, reference = values.lines
    x = reference.get_xdata()
    np.testing.assert_allclose(reference.get_ydata(), np.cos(x))
    np.testing.assert_allclose(network.get_ydata(), result.predict(x[:, None])[:, 0])
    np.testing.assert_allclose(
        difference.lines[0].get_ydata(), np.abs(network.get_ydata() - np.cos(x)), atol=1e-15
    )
    assert (values.get_xlabel(), values.get_ylabel()) == ("x", "u")
    assert re.search(r"\berror\b.*\bu$", difference.get_ylabel())
    (alone,) = figures.error(result, problem=oscillator).axes
    np.testing.assert_array_equal(alone.lines[0].get_ydata(), difference.lines[0].get_ydata())


@pytest.mark.parametrize("domain", [Interval(0, 1), Interval(0, 1) * Time(0, 1), L_SHAPE])
def test_without_a_solution_only_the_network_is_shown(domain):
    problem = stated(domain, name="unsolved")
    result = trained(problem)
    figure = figures.solution(result, problem=problem)
    assert any(re.search(r"^unsolved: no\b", text) for text in texts(figure))
    assert not [text for text in texts(figure) if "reference" in text or "error" in text]
    with pytest.raises(ep.EvopinnError, match="'unsolved'"):
        figures.error(result, problem=problem)


def test_a_network_that_overflows_is_shown_as_far_as_it_goes():
    problem = stated(Rectangle((0, 1000), (0, 1)), lambda x, y: x)
    result = ep.train(problem, "layers=2 neurons=4 activation=exp(x)", epochs=0, engine="autograd")
    figure = figures.solution(result, problem=problem)
    drawn(figure)
    mesh, values = colours_of(figure.axes[0])
    assert np.isfinite(values).all()
    assert np.isfinite([mesh.norm.vmin, mesh.norm.vmax]).all()


def test_a_solution_that_is_infinite_in_a_corner_is_shown_elsewhere():
    problem = stated(Rectangle(), lambda x, y: torch.log(x + y), points=Grid(interior=(4, 4), test=(1, 1)))
    figure = figures.solution(trained(problem), problem=problem)
    drawn(figure)
    mesh, _ = colours_of(figure.axes[1])
    assert np.isfinite(mesh.norm.vmin)
    assert mesh.norm.vmax == pytest.approx(math.log(2))
    (section,) = sections(problem)
    (corner,) = np.nonzero(~np.isfinite(section.reference[:, 0]))[0]
    assert section.points[corner].tolist() == [0, 0]


def test_the_problem_must_be_that_of_the_network(transport, oscillator):
    with pytest.raises(ep.EvopinnError, match=r"'oscillator'.* u of x; .* u of x, t\b"):
        figures.solution(trained(transport), problem=oscillator)
    with pytest.raises(ep.EvopinnError, match="'oscillator'"):
        figures.solution(trained(oscillator))


def test_hostile_names_of_problems_are_shown_as_they_are():
    problem = Problem(
        domain=Interval(0, 1) * Time(0, 1),
        fields=["u_x_"],
        residual=lambda u_x_: u_x_.t,
        conditions=[Initial(lambda u_x_, x: u_x_ - torch.sin(x))],
        points=Grid(interior=(3, 3), initial=3),
        solution=lambda x, t: torch.sin(x) + 0 * t,
        name=HOSTILE,
    )
    result = trained(problem)
    shown = HOSTILE.replace("中", "\ufffd")
    for figure in (figures.solution(result, problem=problem), figures.error(result, problem=problem)):
        drawn(figure)
        (title,) = (text for text in texts(figure) if text.startswith(f"{shown}: "))
        assert title.endswith(f" u_x_ {result.errors['u_x_']:.2e}")
    assert "u_x_" in texts(figures.structure(result).figure)
