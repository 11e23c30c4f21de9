"""What L-BFGS makes of its remembered steps, against dense BFGS and the recursion step by step."""

import statistics

import mpmath
import pytest
import torch

from evopinn.training import LBFGS
from evopinn.training.lbfgs_memory import BLOCK_ROWS, Steps


def random(generator, *shape):
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def curved(generator, s, condition):
    """y = A·s with a symmetric positive definite A of that condition number."""
    size = s.shape[1]
    basis = torch.linalg.qr(random(generator, size, size))[0]
    eigenvalues = torch.linspace(0, 1, size, dtype=torch.float64).mul(torch.tensor(condition).log()).exp()
    return s @ (basis * eigenvalues) @ basis.T


def plain(generator, count, size):
    s = random(generator, count, size)
    return s, curved(generator, s, 10.0)


def ill_conditioned(generator, count, size):
    s = random(generator, count, size)
    return s, curved(generator, s, 1e10)


def shrinking(generator, count, size):
    s = random(generator, count, size) * torch.logspace(0, -8, count, dtype=torch.float64)[:, None]
    return s, curved(generator, s, 1e4)


def nearly_parallel(generator, count, size):
    s = random(generator, size) + 1e-5 * random(generator, count, size)
    return s, curved(generator, s, 1e6)


def changing(generator, count, size):
    """Each step sees another Hessian."""
    s = random(generator, count, size)
    return s, torch.cat([curved(generator, row[None], 1e6) for row in s])


def hardly_curved(generator, count, size):
    """y almost at a right angle to s."""
    s = random(generator, count, size)
    y = random(generator, count, size)
    y -= s * ((y * s).sum(1) / (s * s).sum(1))[:, None]
    return s, y + 1e-2 * s


HISTORIES = [plain, ill_conditioned, shrinking, nearly_parallel, changing, hardly_curved]


def remembered(s, y, gradient, memory):
    steps = Steps.none(gradient)
    for step, change in zip(s, y, strict=True):
        steps = steps.followed_by(step, change, gradient, memory)
    return steps


def two_loops(s, y, gradient, scale):
    """−H∇ by the recursion over single steps (Nocedal & Wright, algorithm 7.4)."""
    q, alphas = -gradient, []
    for step, change in zip(s.flip(0), y.flip(0), strict=True):
        alphas.append(step @ q / (change @ step))
        q = q - alphas[-1] * change
    r = scale * q
    for step, change, alpha in zip(s, y, reversed(alphas), strict=True):
        r = r + step * (alpha - change @ r / (change @ step))
    return r


def dense(s, y, gradient, scale):
    """−H∇ with the whole matrix H updated by the BFGS formula, in fifty digits."""
    with mpmath.workdps(50):
        identity = mpmath.eye(len(gradient))
        h = scale * identity
        for step, change in zip(s.tolist(), y.tolist(), strict=True):
            column, other = mpmath.matrix(step), mpmath.matrix(change)
            curvature = (other.T * column)[0]
            left = identity - column * other.T / curvature
            h = left * h * left.T + column * column.T / curvature
        return -(h * mpmath.matrix(gradient.tolist()))


def deviation(vector, exact):
    with mpmath.workdps(50):
        return float(mpmath.norm(mpmath.matrix(vector.tolist()) - exact) / mpmath.norm(exact))


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("count", [1, 4, 8])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["double", "single"])
def test_the_direction_is_that_of_dense_bfgs_as_exactly_as_by_two_loops(history, count, dtype):
    """On the geometric mean of several draws: in a single one, either may be lucky with its rounding."""
    smallest = torch.finfo(dtype).eps
    ours, theirs = [], []
    for seed in range(10):
        generator = torch.Generator().manual_seed(seed)
        s, y = (each.to(dtype) for each in history(generator, count, 5))
        gradient = random(generator, 5).to(dtype)
        exact = dense(s, y, gradient, 0.125)
        direction = remembered(s, y, gradient, 100).descent(gradient, 0.125)
        assert direction.dtype == dtype
        ours.append(max(deviation(direction, exact), smallest))
        theirs.append(max(deviation(two_loops(s, y, gradient, 0.125), exact), smallest))
    assert statistics.geometric_mean(ours) <= 3 * statistics.geometric_mean(theirs)
    if history is plain:
        assert max(ours) <= 10 * smallest


@pytest.mark.parametrize("history", HISTORIES[:-1])
def test_the_direction_of_a_long_history_is_that_of_two_loops(history):
    generator = torch.Generator().manual_seed(0)
    s, y = history(generator, 100, 300)
    gradient = random(generator, 300)
    scale = float(s[-1] @ y[-1] / (y[-1] @ y[-1]))
    ours, expected = (
        remembered(s, y, gradient, 100).descent(gradient, scale),
        two_loops(s, y, gradient, scale),
    )
    assert torch.linalg.norm(ours - expected) <= 1e-12 * torch.linalg.norm(expected)


@pytest.mark.parametrize("memory", [1, 2, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS + 3])
def test_only_the_latest_steps_count(memory):
    generator = torch.Generator().manual_seed(memory)
    s, y = plain(generator, 3 * BLOCK_ROWS + 7, 40)
    gradient = random(generator, 40)
    for made in (memory, 2 * BLOCK_ROWS, 3 * BLOCK_ROWS, 3 * BLOCK_ROWS + 7):
        steps = remembered(s[:made], y[:made], gradient, memory)
        latest = slice(max(made - memory, 0), made)
        assert len(steps) == min(made, memory)
        expected = two_loops(s[latest], y[latest], gradient, 0.5)
        assert torch.allclose(steps.descent(gradient, 0.5), expected, rtol=1e-10, atol=1e-12)


def test_a_smaller_memory_forgets_at_once():
    generator = torch.Generator().manual_seed(0)
    s, y = plain(generator, 2 * BLOCK_ROWS + 5, 40)
    gradient = random(generator, 40)
    steps = remembered(s[:-1], y[:-1], gradient, 200).followed_by(s[-1], y[-1], gradient, 3)
    assert len(steps) == 3
    assert torch.allclose(steps.descent(gradient, 0.5), two_loops(s[-3:], y[-3:], gradient, 0.5), rtol=1e-11)


def test_the_slopes_follow_the_gradient():
    generator = torch.Generator().manual_seed(0)
    s, y = plain(generator, 5, 40)
    old, new = random(generator, 40), random(generator, 40)
    moved = remembered(s, y, old, 100).seen_from(new)
    assert torch.allclose(moved.descent(new, 0.5), two_loops(s, y, new, 0.5), rtol=1e-11)
    assert len(Steps.none(old).seen_from(new)) == 0


def quartic(theta):
    weights = torch.logspace(0, 4, theta.shape[0], dtype=theta.dtype)
    return float((weights * theta**2 / 2 + theta**4 / 4).sum()), weights * theta + theta**3


def course(optimizer, state, steps):
    states = [state]
    for _ in range(steps):
        states.append(optimizer.step(quartic, states[-1]))
    return states


@pytest.mark.parametrize("memory", [3, 2 * BLOCK_ROWS])
def test_kept_states_can_be_stepped_again_in_any_order_with_the_same_result(memory):
    """States share the rows of their history: none may write where another reads."""
    optimizer = LBFGS(memory=memory)
    start = optimizer.init(quartic, torch.linspace(-1, 2, 500, dtype=torch.float64))
    length = 2 * BLOCK_ROWS + 20
    states = course(optimizer, start, length)
    assert not states[-1].converged
    for kept in (length, BLOCK_ROWS + 1, BLOCK_ROWS, BLOCK_ROWS - 1, length - 2, 1, 0):
        again = course(optimizer, states[kept], min(10, length - kept))
        for one, other in zip(again, states[kept:], strict=False):
            assert torch.equal(one.theta, other.theta)
    again = course(optimizer, start, length)
    assert torch.equal(again[-1].theta, states[-1].theta)
    assert torch.equal(optimizer.step(quartic, again[-1]).theta, optimizer.step(quartic, states[-1]).theta)


def test_a_branch_does_not_change_the_trunk():
    """One state, two objectives: what follows from the one leaves the other as it was."""
    optimizer = LBFGS()
    state = course(optimizer, optimizer.init(quartic, torch.linspace(-1, 2, 50, dtype=torch.float64)), 7)[-1]
    trunk = optimizer.step(quartic, state)
    before = trunk.history.descent(trunk.gradient, trunk.scale)
    branch = optimizer.step(
        lambda theta: (quartic(theta)[0] + float(theta.sum()), quartic(theta)[1] + 1), state
    )
    assert not torch.equal(branch.gradient, trunk.gradient)
    assert torch.equal(trunk.history.descent(trunk.gradient, trunk.scale), before)


def test_a_step_that_is_not_remembered_still_moves_the_gradient():
    """Where the loss is concave, the history stays, but what it makes of the gradient does not."""
    optimizer = LBFGS()
    state = course(optimizer, optimizer.init(quartic, torch.linspace(-1, 2, 50, dtype=torch.float64)), 7)[-1]

    def dome(theta):
        move = theta - state.theta
        return float(state.loss + state.gradient @ move - move @ move / 2), state.gradient - move

    moved = optimizer.step(dome, state)
    assert len(moved.history) == len(state.history) == 7
    assert not torch.allclose(moved.gradient, state.gradient)
    s, y = (torch.cat(rows.parts) for rows in (moved.history.s, moved.history.y))
    expected = two_loops(s, y, moved.gradient, moved.scale)
    assert torch.allclose(moved.history.descent(moved.gradient, moved.scale), expected, rtol=1e-9)


def test_kept_states_share_the_memory_of_their_history():
    optimizer = LBFGS()
    size, steps = 1000, BLOCK_ROWS + 10
    states = course(
        optimizer, optimizer.init(quartic, torch.linspace(-1, 2, size, dtype=torch.float64)), steps
    )
    parts = [part for state in states for rows in (state.history.s, state.history.y) for part in rows.parts]
    assert len({part.untyped_storage().data_ptr() for part in parts}) == 4  # two blocks of s, two of y
