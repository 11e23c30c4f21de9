"""The parts of Levenberg-Marquardt: each alone against dense linear algebra and closed forms, and swapped."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from sums_of_squares import SumOfSquares, random

from evopinn.engine import make_engine
from evopinn.errors import TrainingError
from evopinn.genome import Genome
from evopinn.training import (
    LM,
    Cholesky,
    ConjugateGradients,
    GeodesicAcceleration,
    NoAcceleration,
    SmallDamping,
    Work,
    train,
)
from evopinn.training.linearised import Dense, conjugate_gradients, lower_gram

SMALL = Genome.parse("layers=3 neurons=20 activation=a*tanh(x)")


def waves(rows=25, parameters=4):
    """Residuals with a curvature that is known: sin(A·θ) − b."""
    slopes, right = random(rows, parameters, seed=1), random(rows, seed=2)
    return SumOfSquares(lambda theta: torch.sin(slopes @ theta) - right), slopes


def shifted(diagonal):
    return diagonal + 1


def steps(optimizer, objective, theta, count):
    states = [optimizer.init(objective, theta)]
    for _ in range(count):
        states.append(optimizer.step(objective, states[-1]))
    return states


# Solvers


@pytest.mark.parametrize("shape", [(30, 7), (7, 30), (12, 12)], ids=["tall", "wide", "square"])
@pytest.mark.parametrize("solver", [Cholesky(), Cholesky(columns=5), ConjugateGradients(200, 1e-12)], ids=str)
def test_a_damped_step_is_that_of_the_definition(shape, solver):
    r, jacobian, w = random(shape[0]), random(*shape, seed=1), random(shape[0], seed=2)
    objective, theta = (
        SumOfSquares(lambda theta: jacobian @ theta + r),
        torch.zeros(shape[1], dtype=torch.float64),
    )
    model = solver.model(objective, theta, r, shifted)
    dense, scale = jacobian.numpy(), model.scale.numpy()
    for damping in (1e-3, 1.0, 1e3):
        system = dense.T @ dense + damping * np.diag(scale)
        expected = -np.linalg.solve(system, dense.T @ w.numpy())
        np.testing.assert_allclose(model.damped(damping)(w), expected, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(model.gradient, dense.T @ r.numpy())
    direction = random(shape[1], seed=3)
    np.testing.assert_allclose(model.change(direction), dense @ direction.numpy())


@pytest.mark.parametrize("shape", [(30, 7), (7, 30)], ids=["tall", "wide"])
def test_cholesky_takes_the_scale_of_the_rule(shape):
    jacobian = random(*shape)
    objective, theta = SumOfSquares(lambda theta: jacobian @ theta), torch.ones(shape[1], dtype=torch.float64)
    model = Cholesky().model(objective, theta, objective.residuals(theta), shifted)
    np.testing.assert_allclose(model.scale, (jacobian.numpy() ** 2).sum(axis=0) + 1)


def test_cholesky_has_no_solution_where_the_matrix_is_not_positive_definite():
    model = Dense(torch.ones(3), torch.zeros(3, 2), lambda diagonal: diagonal, columns=2)
    assert model.damped(1.0) is None
    assert Dense(torch.ones(3), torch.zeros(3, 2), shifted, columns=2).damped(1.0) is not None


@pytest.mark.parametrize("columns", [1, 255, 256, 257, 700])
def test_the_lower_triangle_is_that_of_the_product(columns):
    rows = random(40, columns)
    assert torch.allclose(lower_gram(rows, 256).tril(), (rows.T @ rows).tril(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)], ids=["tall", "wide"])
def test_the_columns_of_the_matrix_are_made_a_few_at_a_time(shape):
    model = Dense(random(shape[0]), random(*shape, seed=1), shifted, Cholesky(columns=5).columns)
    made = model._gram != 0
    assert made.tril().sum() == 12 * 13 / 2
    assert not made[:5, 5:].any()
    assert not made[5:10, 10:].any()


def test_conjugate_gradients_end_at_their_tolerance_or_their_number():
    matrix, right = torch.diag(torch.logspace(0, 3, 40, dtype=torch.float64)), random(40)
    for tolerance in (1e-1, 1e-4):
        x = conjugate_gradients(lambda v: matrix @ v, right, 1000, tolerance)
        assert (matrix @ x - right).norm() <= tolerance * right.norm() * (1 + 1e-9)
    products = []
    conjugate_gradients(lambda v: products.append(v) or matrix @ v, right, 7, 1e-12)
    assert len(products) == 7


def test_without_a_jacobian_the_step_of_a_network_is_nearly_the_same(transport):
    engine = make_engine("fused", transport, SMALL)
    theta = engine.layout.initial(0, torch.float64)
    r = engine.residuals(theta)
    free, dense = (
        solver.model(engine, theta, r, lambda d: torch.full_like(d, float(d.mean())))
        for solver in (ConjugateGradients(), Cholesky())
    )
    assert float(free.scale[0]) == pytest.approx(float(dense.scale[0]), rel=0.5)
    free.scale = dense.scale
    step = free.damped(1.0)(r)
    system = engine.residuals_and_jacobian(theta)[1].T @ free.change(step) + dense.scale * step
    assert (system + free.gradient).norm() < 1.01e-3 * free.gradient.norm()
    assert (step - dense.damped(1.0)(r)).norm() < 0.1 * step.norm()


def test_the_memory_that_matrices_take():
    assert Cholesky().bytes(1000, 200, 8) == 8 * (1000 * 200 + 2 * 200**2)
    assert Cholesky().bytes(200, 1000, 4) == 4 * (1000 * 200 + 2 * 200**2)
    assert ConjugateGradients().bytes(1000, 200, 8) == 0


def test_what_a_step_costs_is_what_its_solver_does():
    work = Work(gradient=2.0, entry=0.5, product=0.125)
    tall, wide = (Cholesky().costs(work, *shape, solutions=2) for shape in ((30, 7), (7, 30)))
    assert tall.model == 2 + 0.5 * 210 + 0.125 * 210 * 7 / 2
    assert tall.trial == wide.trial == pytest.approx(0.125 * (7**3 / 3 + 4 * 210))
    free = ConjugateGradients(iterations=5).costs(work, 30, 7, solutions=1)
    assert (free.model, free.trial) == (4.0, 20.0)


# Accelerations


def test_the_acceleration_is_that_of_the_second_derivative():
    objective, slopes = waves()
    theta, damping = 0.1 * random(4, seed=5), 3.0
    r, jacobian = (each.numpy() for each in objective.residuals_and_jacobian(theta))
    system = jacobian.T @ jacobian + damping * np.diag((jacobian**2).sum(axis=0) + 1)
    v = -np.linalg.solve(system, jacobian.T @ r)
    along = slopes.numpy() @ v
    second = -np.sin(slopes.numpy() @ theta.numpy()) * along**2  # of sin(A·θ) along v
    h = 1e-4
    differences = [objective.residuals(theta + t * torch.as_tensor(v)).numpy() for t in (-h, 0, h)]
    np.testing.assert_allclose(np.diff(differences, 2, axis=0)[0] / h**2, second, rtol=1e-4, atol=1e-6)
    a = -np.linalg.solve(system, jacobian.T @ second)
    model = Cholesky().model(objective, theta, torch.as_tensor(r), shifted)
    step = GeodesicAcceleration(probe=1e-4, most=1e9).step(objective, theta, model, model.damped(damping))
    np.testing.assert_allclose(step, v + a / 2, rtol=1e-5, atol=1e-8)


def test_a_step_is_bent_only_while_its_acceleration_is_small():
    objective, _ = waves()
    theta = 0.1 * random(4, seed=5)
    model = Cholesky().model(objective, theta, objective.residuals(theta), shifted)
    solve = model.damped(3.0)
    straight, bent = (
        acceleration.step(objective, theta, model, solve)
        for acceleration in (NoAcceleration(), GeodesicAcceleration(most=1e9))
    )
    assert torch.equal(straight, solve(model.residuals))
    length = [float((each.square() * model.scale).sum().sqrt()) for each in (2 * (bent - straight), straight)]
    ratio = 2 * length[0] / length[1]
    for most, expected in ((0.99 * ratio, straight), (1.01 * ratio, bent)):
        found = GeodesicAcceleration(most=most).step(objective, theta, model, solve)
        assert torch.equal(found, expected)


def test_a_probe_that_overflows_bends_nothing():
    objective = SumOfSquares(torch.sqrt)
    theta = torch.full((2,), 1e-3, dtype=torch.float64)
    model = Cholesky().model(objective, theta, objective.residuals(theta), shifted)
    step = GeodesicAcceleration(probe=10.0).step(objective, theta, model, model.damped(1e-3))
    assert objective.residuals(theta + 10 * step).isnan().any()
    assert torch.equal(step, model.damped(1e-3)(model.residuals))


# Damping rules


def test_the_damping_falls_after_a_step_and_rises_after_a_refusal():
    rule = SmallDamping(rise=3.0, fall=10.0, least=0.02)
    assert rule.raised(2.0) == 6.0
    assert rule.lowered(2.0) == 0.2
    assert rule.lowered(0.1) == 0.02
    assert rule.accepts(0.9, 1.0)
    assert not any(rule.accepts(loss, 1.0) for loss in (1.0, 1.1, math.inf, math.nan))


def test_the_scale_is_the_geometric_mean_of_levenbergs_and_marquardts():
    diagonal = torch.as_tensor([1.0, 4.0, 0.0, 11.0], dtype=torch.float64)
    np.testing.assert_allclose(SmallDamping(least_scale=1e-3).scale(diagonal), [2, 4, 4e-3, math.sqrt(44)])


@pytest.mark.parametrize("name", ["trials", "rise", "fall", "least", "least_scale"])
def test_a_rule_of_no_sense_is_refused(name):
    with pytest.raises(TrainingError, match=name):
        SmallDamping(**{name: 0})


# The parts together


def test_a_step_on_two_parameters_is_that_of_the_closed_form():
    """Residuals 3·x − 6 and 4·y − 4, from the origin: each parameter has a problem of its own."""
    objective = SumOfSquares(lambda x: torch.as_tensor([3.0, 4.0]) * x - torch.as_tensor([6.0, 4.0]))
    theta = torch.zeros(2, dtype=torch.float64)
    s = [math.sqrt(d * (9 + 16) / 2) for d in (9, 16)]
    for optimizer in (LM(damping=0.5), LM(damping=0.5, acceleration=NoAcceleration())):
        state = optimizer.step(objective, optimizer.init(objective, theta))
        assert state.theta.tolist() == pytest.approx([18 / (9 + 0.5 * s[0]), 16 / (16 + 0.5 * s[1])])
        assert state.damping == 0.5 / 25


def test_with_a_constant_damping_a_linear_problem_is_a_linear_iteration():
    jacobian, right = random(9, 4), random(9, seed=1)
    objective = SumOfSquares(lambda theta: jacobian @ theta - right)
    constant = LM(damping=2.0, rule=SmallDamping(trials=1, rise=1, fall=1), acceleration=NoAcceleration())
    states = steps(constant, objective, torch.zeros(4, dtype=torch.float64), 6)
    normal = jacobian.numpy().T @ jacobian.numpy()
    scale = np.sqrt(normal.diagonal() * normal.diagonal().mean())
    theta = np.zeros(4)
    for state in states[1:]:
        theta = theta + np.linalg.solve(
            normal + 2 * np.diag(scale), jacobian.numpy().T @ right.numpy() - normal @ theta
        )
        assert state.damping == 2.0
        np.testing.assert_allclose(state.theta, theta, rtol=1e-9)


def test_without_acceleration_a_trial_costs_one_solution_and_one_evaluation(transport):
    """The first losses fall with both; only the epochs that a step counts for differ."""
    plain = LM(acceleration=NoAcceleration())
    bent, straight = (train(transport, SMALL, optimizer=each, epochs=4) for each in (LM(), plain))
    assert straight.loss < 0.1 * straight.history.losses[0]
    assert straight.history.losses[0] == bent.history.losses[0]
    assert straight.history.losses[1] != bent.history.losses[1]
    assert min(np.diff(straight.history.epochs)) < min(np.diff(bent.history.epochs))


def test_another_rule_decides_which_trials_are_steps():
    @dataclass(frozen=True)
    class Cautious(SmallDamping):
        def accepts(self, loss, before):
            return loss < 0.5 * before

    objective, _ = waves()
    theta = 0.5 * random(4, seed=7)
    losses = [state.loss for state in steps(LM(rule=Cautious()), objective, theta, 3)]
    assert all(after < 0.5 * before or after == before for before, after in itertools.pairwise(losses))


def test_conjugate_gradients_can_be_the_solver(transport):
    """As when the memory is short, but without the remark on it."""
    short, chosen = LM(memory=1), LM(solver=ConjugateGradients())
    one, other = (
        train(transport, SMALL, optimizer=each, epochs=10**6, max_evaluations=200) for each in (short, chosen)
    )
    assert one.history == other.history
    assert one.settings["remark"]
    assert not other.settings["remark"]


def test_the_settings_say_which_parts_are_not_the_usual_ones(oscillator):
    def described(optimizer):
        return train(oscillator, SMALL, optimizer=optimizer, epochs=0).settings["optimizer"]

    usual = {"name": "lm", "damping": 1.0, "memory": 4e9}
    assert described("lm") == described(replace(LM(), solver=Cholesky())) == usual
    swapped = described(LM(acceleration=NoAcceleration(), solver=Cholesky(columns=8)))
    assert swapped == usual | {
        "acceleration": {"name": "noacceleration"},
        "solver": {"name": "cholesky", "columns": 8},
    }
    chained = described("adam:7+lm")
    assert chained["stages"][1] == {"optimizer": {"damping": 1.0, "memory": 4e9}, "epochs": None}


def test_a_state_is_kept_as_it_always_was():
    """Checkpoints have these names, in these precisions."""
    objective, _ = waves()
    optimizer = LM()
    state = steps(optimizer, objective, torch.zeros(4, dtype=torch.float64), 2)[-1]
    kept = optimizer.state_tensors(state)
    assert {name: (each.dtype, each.ndim) for name, each in kept.items()} == {
        "theta": (torch.float64, 1),
        "damping": (torch.float64, 0),
        "cost": (torch.float64, 0),
    }
    again = optimizer.resume(objective, kept)
    assert torch.equal(optimizer.step(objective, again).theta, optimizer.step(objective, state).theta)
