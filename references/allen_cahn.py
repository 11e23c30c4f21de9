"""The reference solution of the catalogue's Allen-Cahn equation.

    u_t = d u_xx + 5 (u - u³)    on (-1, 1) × (0, 1],    u(x, 0) = x² cos(πx),    periodic,    d = 1e-4.

The initial values are even, so the solution is even, and periodicity makes it even about x = 1: it is
the solution on (0, 1) with u_x = 0 at both ends, a cosine series. At x = 1 the initial values have a kink
(u_x jumps from -2 to 2 around the periodic end), so their series converges slowly at t = 0. Sampling them
would cause aliasing, so the script uses their exact coefficients, and forms the cube on twice as many points
to avoid aliasing later. Diffusion then makes the series converge fast.

The time stepper is ETDRK4 (Cox and Matthews 2002; coefficients by contour integrals, Kassam and Trefethen
2005). A finite-volume method on a mesh graded towards x = 1, extrapolated from two meshes, checks the
result.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, idct
from scipy.integrate import odeint
from scipy.interpolate import CubicSpline

TARGET = Path(__file__).parents[1] / "src/evopinn/catalogue/data/allen_cahn.npz"
D = 1e-4
REACTION = 5.0
MODES = 4096
STEPS = 3200
TIMES = np.linspace(0, 1, 101)
NODES = np.linspace(0, 1, 101)  # of the right half; the left one mirrors it
DIGITS = 10  # after the point, of what is stored

Array = NDArray[np.float64]


def initial_coefficients(modes: int) -> Array:
    """Coefficients of Σ' a_k cos(kπx) (the first halved) for x² cos(πx) on (0, 1)."""

    def moment(m: Array) -> Array:
        """∫ x² cos(mπx) dx over (0, 1)."""
        nonzero = np.where(m == 0, 1, m)
        return np.where(m == 0, 1 / 3, 2 * (-1.0) ** m / (nonzero * np.pi) ** 2)

    k = np.arange(modes, dtype=np.float64)
    return moment(k + 1) + moment(k - 1)


def minus_cube(a: Array) -> Array:
    """Coefficients of -5 u³, formed on twice as many points."""
    modes = len(a)
    values = np.asarray(idct(np.pad(a, (0, modes)), type=2)) * (2 * modes)
    return -REACTION / (2 * modes) * np.asarray(dct(values**3, type=2))[:modes]


def spectral(modes: int, steps: int) -> Array:
    """The solution on `NODES` and `TIMES`, shape (nodes, times)."""
    h = 1 / steps
    linear = h * (REACTION - D * (np.pi * np.arange(modes)) ** 2)
    contour = linear[:, None] + np.exp(1j * np.pi * (np.arange(64) + 0.5) / 64)
    grown, half = np.exp(linear), np.exp(linear / 2)
    e = np.exp(contour)
    half_weight = h * ((np.exp(contour / 2) - 1) / contour).mean(axis=1).real
    first = h * ((-4 - contour + e * (4 - 3 * contour + contour**2)) / contour**3).mean(axis=1).real
    middle = h * ((2 + contour + e * (contour - 2)) / contour**3).mean(axis=1).real
    last = h * ((-4 - 3 * contour - contour**2 + e * (4 - contour)) / contour**3).mean(axis=1).real

    a = initial_coefficients(modes)
    kept = [a]
    for step in range(1, steps + 1):
        n_start = minus_cube(a)
        one = half * a + half_weight * n_start
        n_one = minus_cube(one)
        two = half * a + half_weight * n_one
        n_two = minus_cube(two)
        three = half * one + half_weight * (2 * n_two - n_start)
        a = grown * a + first * n_start + 2 * middle * (n_one + n_two) + last * minus_cube(three)
        if step % (steps // (len(TIMES) - 1)) == 0:
            kept.append(a)
    series = np.stack(kept, axis=1)
    series[0] /= 2
    return np.cos(np.pi * np.outer(NODES, np.arange(modes))) @ series


def finite_volume(cells: int) -> tuple[Array, Array]:
    """Cell centres of a mesh graded towards x = 1, and the solution on them, shape (cells, times)."""
    faces = np.linspace(0, 1, cells + 1)
    faces = faces + 0.9 * np.sin(np.pi * faces) / np.pi  # cells shrink to a tenth at x = 1
    centre, width = (faces[1:] + faces[:-1]) / 2, np.diff(faces)
    distance = np.diff(centre)

    def rate(u: Array, _time: float) -> Array:
        flux = np.concatenate([[0.0], D * np.diff(u) / distance, [0.0]])
        return np.diff(flux) / width + REACTION * (u - u**3)

    start = centre**2 * np.cos(np.pi * centre)
    found = odeint(rate, start, TIMES, rtol=1e-10, atol=1e-12, ml=1, mu=1, mxstep=100_000)
    return centre, found.T


def at_nodes(centre: Array, values: Array) -> Array:
    """Values of a finite-volume solution on the inner nodes, by cubic interpolation."""
    return CubicSpline(centre, values)(NODES[1:-1])


def main() -> None:
    """Compute, report and store."""
    u = spectral(MODES, STEPS)
    u[:, 0] = NODES**2 * np.cos(np.pi * NODES)  # known exactly, where the series converges slowly
    for modes, steps in ((MODES // 2, STEPS), (MODES, STEPS // 2)):
        difference = np.abs(spectral(modes, steps) - u)[:, 1:].max()
        print(f"{MODES} modes, {STEPS} steps against {modes}, {steps}: {difference:.1e}")
    coarse, fine = at_nodes(*finite_volume(2000)), at_nodes(*finite_volume(4000))
    extrapolated = (4 * fine - coarse) / 3
    print(f"against finite volumes: {np.abs(fine - u[1:-1]).max():.1e}", end=", ")
    print(f"extrapolated: {np.abs(extrapolated - u[1:-1]).max():.1e}")
    x = np.concatenate([-NODES[:0:-1], NODES])
    whole = np.concatenate([u[:0:-1], u])
    np.savez_compressed(TARGET, x=x, t=TIMES, u=np.round(whole, DIGITS))
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
