"""Solutions of the catalogue against sources that share no code with them."""

import importlib.util
from fractions import Fraction
from math import pi
from pathlib import Path

import mpmath
import numpy as np
import pytest
import sympy
import torch
from scipy.integrate import odeint
from scipy.sparse import coo_array
from scipy.sparse.linalg import spsolve

from evopinn.catalogue import (
    allen_cahn,
    burgers_1d,
    korteweg_de_vries,
    kovasznay,
    lame,
    problem,
    schroedinger,
)
from evopinn.catalogue.poisson_l_shape import CornerSeries

REFERENCES = Path(__file__).parents[2] / "references"


def script(name):
    """A script of `references/` as a module."""
    spec = importlib.util.spec_from_file_location(f"reference_{name}", REFERENCES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tensor(values):
    return torch.as_tensor(values, dtype=torch.float64)


# --- Lamé: the paper's formulas, differentiated symbolically and put into the stresses of plane elasticity


@pytest.mark.parametrize("case", lame.CASES)
def test_lame_is_in_equilibrium_and_carries_the_loads(case):
    constants = lame.CASES[case]
    E, mu, q1, q2, a, b = (
        sympy.Rational(str(value))
        for value in (constants.E, constants.mu, constants.q1, constants.q2, constants.a, constants.b)
    )
    A = q1 * (1 - mu**2) * b**2 / (E * (b**2 * (1 + mu) + a**2 * (1 - mu)))
    B = q2 * (1 + mu) * b**2 / (E * a**2)
    assert lame.amplitudes(constants) == pytest.approx((float(A), float(B)), rel=1e-14)

    x, y = sympy.symbols("x y", real=True)
    fade = a**2 / (x**2 + y**2) - 1
    u, v = A * fade * x - B * fade * y, A * fade * y + B * fade * x
    stress_x = E / (1 - mu**2) * (u.diff(x) + mu * v.diff(y))
    stress_y = E / (1 - mu**2) * (v.diff(y) + mu * u.diff(x))
    shear = E / (2 * (1 + mu)) * (u.diff(y) + v.diff(x))
    assert sympy.simplify(stress_x.diff(x) + shear.diff(y)) == 0
    assert sympy.simplify(shear.diff(x) + stress_y.diff(y)) == 0

    for cosine, sine in ((Fraction(3, 5), Fraction(4, 5)), (Fraction(-5, 13), Fraction(12, 13))):
        nx, ny = sympy.Rational(cosine), sympy.Rational(sine)
        rim = {x: b * nx, y: b * ny}
        assert (stress_x * nx + shear * ny).subs(rim) == -q1 * nx + q2 * ny
        assert (shear * nx + stress_y * ny).subs(rim) == -q1 * ny - q2 * nx
        inner = {x: a * nx, y: a * ny}
        assert (u.subs(inner), v.subs(inner)) == (0, 0)

    points = np.array([[1.3, 0.4], [-0.9, 1.1], [0.2, -1.4]])
    ours = problem(f"lame:{case}").solution(*tensor(points).T)
    for formula, values in zip((u, v), ours, strict=True):
        assert values.numpy() == pytest.approx(sympy.lambdify((x, y), formula)(*points.T), rel=1e-12)


# --- Burgers in one dimension: adaptive quadrature, and the literature's steepest slope


@pytest.mark.parametrize(("x", "t"), [(0.3, 0.1), (-0.75, 0.4), (0.01, 0.6), (0.002, 1.0), (-0.99, 0.9)])
def test_burgers_1d_agrees_with_adaptive_quadrature(x, t):
    nu = burgers_1d.NU

    def weight(y):
        exponent = (x - y) ** 2 / (4 * nu * t) + (mpmath.cos(mpmath.pi * y) + 1) / (2 * mpmath.pi * nu)
        return mpmath.exp(-exponent)

    pieces = list(x + np.linspace(-1.5, 1.5, 101))
    with mpmath.workdps(20):
        top = mpmath.quad(lambda y: -mpmath.sin(mpmath.pi * y) * weight(y), pieces)
        expected = top / mpmath.quad(weight, pieces)
    assert float(burgers_1d.exact(tensor([x]), tensor([t]))) == pytest.approx(float(expected), abs=1e-12)


def test_burgers_1d_has_the_steepest_slope_of_the_literature():
    # Basdevant and others (1986): the slope at the origin is largest at πt = 1.6037, where it is -152.00516.
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    t = tensor([1.60, 1.6037, 1.61]) / pi
    (slope,) = torch.autograd.grad(burgers_1d.exact(x, t).sum(), x)
    assert float(slope[1]) == pytest.approx(-152.00516, abs=2e-5)
    assert slope[1] == slope.min()


def test_burgers_1d_starts_as_a_sine():
    x = torch.linspace(-1, 1, 41, dtype=torch.float64)
    assert torch.allclose(burgers_1d.exact(x, torch.zeros_like(x)), -torch.sin(pi * x), rtol=0, atol=1e-15)


# --- Schrödinger: a split-step Fourier method on a line long enough to be infinite


def test_schroedinger_agrees_with_a_split_step_method():
    n, length, steps = 512, 40.0, 4000
    x = (np.arange(n) - n // 2) * length / n
    h, dt = 2 / np.cosh(x) + 0j, pi / 4 / steps
    drift = np.exp(-0.5j * dt * (2 * pi * np.fft.fftfreq(n, length / n)) ** 2)
    for _ in range(steps):
        h = h * np.exp(0.5j * dt * np.abs(h) ** 2)
        h = np.fft.ifft(drift * np.fft.fft(h))
        h = h * np.exp(0.5j * dt * np.abs(h) ** 2)
    near = np.abs(x) <= 5
    u, v = schroedinger.exact(tensor(x[near]), torch.full((near.sum(),), pi / 4, dtype=torch.float64))
    assert np.abs(u.numpy() + 1j * v.numpy() - h[near]).max() < 1e-4
    assert np.abs(h).max() == pytest.approx(4, abs=1e-4)  # focused to twice its height


# --- Korteweg-de Vries: its slopes are tiny at the end where they are prescribed, so they are checked inside


@pytest.mark.parametrize("case", korteweg_de_vries.CASES.values(), ids=korteweg_de_vries.CASES)
def test_korteweg_de_vries_slopes_are_derivatives(case):
    rng = np.random.default_rng(0)
    x = tensor(rng.uniform(*case.x, 200)).requires_grad_()
    t = tensor(rng.uniform(*case.t, 200))
    (slope,) = torch.autograd.grad(case.exact(x, t).sum(), x)
    assert case.slope(x, t).detach().numpy() == pytest.approx(slope.numpy(), rel=1e-10, abs=1e-12)


# --- Kovasznay


def test_kovasznay_decays_as_in_the_literature():
    assert pytest.approx(-0.9637405441957689, rel=1e-14) == kovasznay.LAMBDA


# --- Poisson on the L-shape


def boundary_of_l(n):
    corners = [(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1), (0, 0)]
    along = np.linspace(0, 1, n)[:, None]
    edges = [
        np.subtract(1, along) * p + along * q
        for p, q in zip(np.array(corners), np.array(corners)[1:], strict=False)
    ]
    return np.concatenate(edges)


def test_poisson_l_shape_is_zero_on_the_boundary_so_exact_inside():
    assert CornerSeries.load()(*tensor(boundary_of_l(2001)).T).abs().max() < 1e-12


def test_poisson_l_shape_is_symmetric_and_positive():
    u = CornerSeries.load()
    x, y = tensor(np.random.default_rng(1).uniform(-1, 1, (2, 400)))
    inside = ~((x > 0) & (y > 0))
    x, y = x[inside], y[inside]
    assert torch.allclose(u(x, y), u(y, x), rtol=0, atol=1e-14)
    assert (u(x, y) > 0).all()


def test_poisson_l_shape_agrees_with_finite_differences():
    n = 64
    h = 1 / n
    grid = np.linspace(-1, 1, 2 * n + 1)
    X, Y = np.meshgrid(grid, grid, indexing="ij")
    free = (np.maximum(np.abs(X), np.abs(Y)) < 1 - h / 2) & (np.minimum(X, Y) < -h / 2)
    number = np.full(free.shape, -1)
    number[free] = np.arange(free.sum())
    rows, columns = [number[free]], [number[free]]
    for axis in (0, 1):
        for shift in (-1, 1):
            neighbour = np.roll(number, shift, axis)[free]
            rows.append(number[free][neighbour >= 0])
            columns.append(neighbour[neighbour >= 0])
    entries = np.concatenate([np.full(len(r), 4.0 if i == 0 else -1.0) for i, r in enumerate(rows)])
    matrix = coo_array((entries, (np.concatenate(rows), np.concatenate(columns)))).tocsr()
    found = spsolve(matrix, np.full(free.sum(), h**2))
    error = np.abs(found - CornerSeries.load()(tensor(X[free]), tensor(Y[free])).numpy())
    # The corner limits five-point differences to an error of order h^(4/3) away from it, h^(2/3) beside it.
    assert error.max() < 0.05 * h ** (2 / 3)
    assert error[np.hypot(X, Y)[free] > 0.3].max() < 0.1 * h ** (4 / 3)


def test_poisson_l_shape_has_the_energy_of_the_literature():
    reference = script("poisson_l_shape")
    # Adaptive finite elements give ∫ |∇u|² = 0.2140758.
    assert reference.energy(reference.fit(), nodes=120) == pytest.approx(0.2140758, abs=1e-7)


def test_poisson_l_shape_is_what_its_script_computes():
    reference = script("poisson_l_shape")
    points = np.array([-0.5 - 0.5j, 0.4 - 0.3j, -0.9 + 0.8j, -0.01 + 0.02j])
    fitted = reference.particular(points) + reference.basis(points) @ reference.fit()
    stored = CornerSeries.load()(tensor(points.real), tensor(points.imag))
    assert stored.numpy() == pytest.approx(fitted, abs=1e-12)


# --- Allen-Cahn


@pytest.fixture(scope="module")
def stored():
    with np.load(allen_cahn.REFERENCE, allow_pickle=False) as data:
        assert data.files == ["x", "t", "u"]
        return data["x"], data["t"], data["u"]


def test_allen_cahn_starts_as_given_and_stays_periodic_even_and_bounded(stored):
    x, t, u = stored
    assert u.shape == (len(x), len(t))
    assert np.allclose([x[0], x[-1], t[0], t[-1]], [-1, 1, 0, 1], rtol=0, atol=0)
    assert np.abs(u[:, 0] - x**2 * np.cos(pi * x)).max() < 1e-10
    assert (u[0] == u[-1]).all()
    assert (u == u[::-1]).all()
    assert np.abs(u).max() <= 1


def test_allen_cahn_satisfies_the_equation_where_it_is_resolved(stored):
    x, t, u = stored
    dx, dt = x[1] - x[0], t[1] - t[0]
    # Fourth-order differences of the stored data, away from the kink and before the interfaces get thin.
    rows, columns = np.abs(x) < 0.8, slice(2, 21)
    u_t = (u[:, :-4] - 8 * u[:, 1:-3] + 8 * u[:, 3:-1] - u[:, 4:]) / (12 * dt)
    u_xx = (
        -np.roll(u, 2, 0) + 16 * np.roll(u, 1, 0) - 30 * u + 16 * np.roll(u, -1, 0) - np.roll(u, -2, 0)
    ) / (12 * dx**2)
    reaction = 5 * (u - u**3)
    residual = u_t[rows, :19] - (allen_cahn.D * u_xx + reaction)[rows, columns]
    assert np.abs(residual).max() < 1e-4 * np.abs(reaction[rows, columns]).max()


def test_allen_cahn_agrees_with_finite_volumes(stored):
    x, t, u = stored
    cells = 1200
    width = 1 / cells
    centre = (np.arange(cells) + 0.5) * width

    def rate(values, _time):
        flux = np.concatenate([[0.0], np.diff(values), [0.0]])
        return allen_cahn.D * np.diff(flux) / width**2 + 5 * (values - values**3)

    found = odeint(rate, centre**2 * np.cos(pi * centre), t[::25], rtol=1e-8, atol=1e-10, ml=1, mu=1)
    for values, column in zip(found[1:], u.T[25::25], strict=True):
        ours = np.interp(x[101:-1], centre, values)
        assert np.abs(ours - column[101:-1]).max() < 1e-3


def test_allen_cahn_is_what_its_script_computes(stored):
    _, _, u = stored
    coarse = script("allen_cahn").spectral(modes=1024, steps=800)
    assert np.abs(coarse[:, 1:] - u[100:, 1:]).max() < 1e-8
