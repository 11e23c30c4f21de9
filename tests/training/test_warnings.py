"""Warnings before the first step: what they name, when they are silent, and that they change nothing."""

import warnings

import pytest
import torch

import evopinn as ep
from evopinn.catalogue import find_problem, names
from evopinn.errors import TrainingWarning
from evopinn.training import Status, train, warnings_before

GENOME = "layers=3 neurons=4 activation=tanh(x)"
TINY = ep.Genome.parse(GENOME)


def stated(residual=lambda u, x: u.xx + u, conditions=None, points=60, **options):
    conditions = [ep.Boundary(lambda u, x: u - x)] if conditions is None else conditions
    fields = options.pop("fields", ["u"])
    grid = ep.Grid(interior=points, boundary=2)
    return ep.Problem(ep.Interval(0, 1), fields, residual, conditions, grid, **options)


@pytest.mark.parametrize("name", names())
def test_the_catalogue_gives_no_warning_but_the_beam(name):
    """The beam has 104 residuals, in one dimension, for 673 parameters."""
    told = warnings_before(find_problem(name))
    assert len(told) == (name == "euler-bernoulli")


def test_fewer_residuals_than_parameters():
    (told,) = warnings_before(stated(points=10), TINY)
    assert "33 parameters" in told
    assert "12 residuals" in told
    assert warnings_before(stated(points=31), TINY) == ()


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_terms_far_apart(size):
    left = ep.Boundary(lambda u: size * u, on="left", name="far off")
    conditions = [left, ep.Boundary(lambda u: u - 1, on="right")]
    (told,) = warnings_before(stated(conditions=conditions, scale=False), TINY)
    assert "'far off'" in told
    assert not warnings_before(stated(conditions=conditions), TINY)
    (told,) = warnings_before(stated(conditions=[ep.Boundary(lambda u: u - 1, weight=size**2)]), TINY)
    assert "boundary" in told
    (told,) = warnings_before(stated(lambda u, x: u.xx - 1e9 * torch.sin(x), scale=False), TINY)
    assert "the residual" in told


def test_what_is_said_of_a_field_in_different_units():
    (told,) = warnings_before(stated(lambda u, x: u.xx - 1e9 * torch.sin(x)), TINY)
    assert "scale of u" in told
    (told,) = warnings_before(stated(fields={"u": ep.Field(scale=1e6)}), TINY)
    assert "scale of u" in told
    for size in (1e-6, 1e6):
        data = ep.Data([[0.2], [0.5]], {"u": [0.2 * size, 0.5 * size]})
        (told,) = warnings_before(stated(conditions=[ep.Boundary(lambda u, x: u - x), data]), TINY)
        assert "data of u" in told


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_what_is_said_of_a_field_in_the_same_units(size):
    """Zeros with rounding and tails that fade away are not mistaken for other units."""
    ends = ep.Boundary(lambda u, x: u - size * torch.sin(torch.pi * x))
    fading = ep.Boundary(lambda u, x: u - size * torch.exp(-30 * x))
    data = ep.Data([[0.2], [0.5]], {"u": [size, 2 * size]})
    # A third of it is not a number of the machine: the known values differ from their shift by rounding.
    constant = ep.Boundary(lambda u: 3 * u - size)
    for conditions in ([ends, data], [ends], [fading, data], [constant]):
        problem = stated(lambda u, x: u.xx - 100 * size * torch.sin(x), conditions=conditions)
        assert not warnings_before(problem, TINY)


def test_a_shift_with_rounding_is_in_the_same_units():
    """The values of u hang on a weak current v, and vary by 1e-4 of 1000 only."""
    coupled = ep.Problem(
        domain=ep.Interval(-0.01, 0.01),
        fields=["u", "v"],
        residual=lambda u, v: [u.xx + 10 * v, v.xx - 10 * u],
        conditions=[ep.Boundary(lambda u, v: [u - 1e3, v])],
        points=ep.Grid(interior=60),
    )
    assert not warnings_before(coupled, TINY)


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({"conditions": [ep.Boundary(lambda u: 0 * u), ep.Boundary(lambda u: u)]}, "'boundary 1'"),
        ({"conditions": [ep.Boundary(lambda u: [u, 0 * u]), ep.Boundary(lambda u: u)]}, "component 2 of"),
        ({"conditions": [ep.Boundary(lambda u: u, weight=0, name="idle")]}, "'idle'"),
        ({"residual": lambda u, x: u - u}, "the residual"),
    ],
)
def test_terms_without_any_effect(options, label):
    told = [each for each in warnings_before(stated(**options), TINY) if "no effect" in each]
    assert len(told) == 1
    assert label in told[0]


def test_an_activation_without_curvature_makes_a_residual_idle():
    problem = stated(lambda u: u.xx - 1)
    straight = ep.Genome.parse("layers=3 neurons=4 activation=max(x, -x)")
    assert any("the residual has no effect" in each for each in warnings_before(problem, straight))
    assert not warnings_before(problem, TINY)


def test_what_only_a_condition_at_the_origin_needs_has_an_effect():
    flat = ep.Genome.parse("layers=3 neurons=4 activation=recu(x)")
    slope = ep.Boundary(lambda u: u.x, on="left")
    assert not warnings_before(stated(conditions=[slope, ep.Boundary(lambda u: u - 1)]), flat)


def test_python_names_the_line_that_trains():
    with pytest.warns(TrainingWarning, match="residuals") as record:
        train(stated(points=5), GENOME, epochs=0)
    assert [each.filename for each in record] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(stated(points=5), GENOME, epochs=0, on_warning=None)
        with pytest.raises(TrainingWarning):
            train(stated(points=5), GENOME, epochs=0)


def test_warnings_come_first_and_change_nothing():
    """Not even of a residual that draws random numbers."""
    events = []

    def drawn(u, x):
        return u.xx + u * (1 + 0.01 * torch.rand(1, dtype=x.dtype))

    def outcome(**listeners):
        problem = stated(drawn, points=9)
        torch.manual_seed(3)
        result = train(problem, GENOME, epochs=3, **listeners)
        return result.history.losses, result.theta.tolist(), result.evaluations

    told = outcome(
        on_warning=lambda _: events.append("warning"), on_progress=lambda _: events.append("progress")
    )
    assert events[0] == "warning"
    assert events.count("warning") == 1
    assert told == outcome(on_warning=None)


def test_ctrl_c_during_the_first_look_leaves_a_result():
    def interrupt(_):
        raise KeyboardInterrupt

    assert train(stated(points=5), GENOME, on_warning=interrupt).status is Status.INTERRUPTED


def test_a_continued_training_is_not_warned_again():
    kept, told = [], []
    train(stated(points=5), GENOME, epochs=1, on_end=kept.append, on_warning=told.append)
    assert len(told) == 1
    train(stated(points=5), GENOME, epochs=2, start=kept[0], on_warning=told.append)
    assert len(told) == 1
