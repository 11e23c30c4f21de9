"""The solution of -Δu = 1, u = 0 on the L-shape, fitted by functions that satisfy the equation exactly.

The domain is [-1, 1]² without [0, 1]². Let ω be the complex coordinate whose positive real axis is the L's
diagonal of symmetry, and s = ω^(2/3). This maps the L to a part of the right half plane, and its two edges at
the re-entrant corner to the imaginary axis. Then

    u = -r²/4 + Re( ω² log ω / (3π) + Σ_k a_k s^k + Σ_j (Q_j(s/c_j) - Q_j(-s/c_j)) ),    k = 1, 3, 5, ...,
    Q_j(ζ) = Σ_m b_jm (1 - ζ)^m log(1 - ζ),    m = 2, 3, ...,

satisfies the equation and vanishes on these two edges for all real a_k and suitable b_jm. The first two
terms are a particular solution; the Q_j represent the r² log r singularities of the right angles at c_j,
without which the series would converge slowly. Making u vanish on the outer edges is a
linear least-squares problem. By the maximum principle, the error anywhere in the domain is at most the
largest |u| on these edges.
"""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TARGET = Path(__file__).parents[1] / "src/evopinn/catalogue/data/poisson_l_shape.json"
TERMS = 30  # of the series in s
POWERS = range(2, 7)  # of the corner terms
SAMPLES = 600  # per edge, for the fit

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

# One row per real unknown and power m: the corners it acts on, with its factor in their b. The factors keep u
# symmetric about the diagonal and zero on the two edges. The fifth right angle, (0, 1), has -c of (1, 0).
UNKNOWNS: tuple[dict[complex, complex], ...] = (
    {-1 - 1j: 1},
    {1 - 1j: 1, -1 + 1j: 1},
    {1 - 1j: 1j, -1 + 1j: -1j},
    {1 + 0j: 1j},
)


def opened(point: Complex | complex) -> Complex:
    """The coordinate s of x + iy."""
    return (np.asarray(point) * np.exp(0.75j * np.pi)) ** (2 / 3)


def corner_term(s: Complex, corner: complex, power: int) -> Complex:
    """(1 - ζ)^m log(1 - ζ), made odd in ζ = s/c; its cut runs outward from the corner."""
    zeta = s / opened(corner)
    return (1 - zeta) ** power * np.log(1 - zeta) - (1 + zeta) ** power * np.log(1 + zeta)


def basis(point: Complex) -> Array:
    """The basis functions, shape (n, functions)."""
    s = opened(point)
    series = [(s**k).real for k in range(1, 2 * TERMS, 2)]
    corners = [
        sum(factor * corner_term(s, corner, power) for corner, factor in row.items()).real
        for power in POWERS
        for row in UNKNOWNS
    ]
    return np.stack(series + corners, axis=1)


def particular(point: Complex) -> Array:
    """A solution of the equation that vanishes on the two edges at the re-entrant corner."""
    omega = point * np.exp(0.75j * np.pi)
    return -(np.abs(point) ** 2) / 4 + (omega**2 * np.log(omega)).real / (3 * np.pi)


def outer_edges(samples: int) -> Complex:
    """Points on half of the outer boundary, clustered at the corners; symmetry does the other half."""
    along = (1 - np.cos(np.pi * (np.arange(samples) + 0.5) / samples)) / 2
    return np.concatenate([-1 + 2 * along - 1j, 1 - 1j * along]).astype(np.complex128)


def fit() -> Array:
    """The coefficients, by least squares with columns scaled for conditioning."""
    edge = outer_edges(SAMPLES)
    matrix = basis(edge)
    scale = np.abs(matrix).max(axis=0)
    return np.linalg.lstsq(matrix / scale, -particular(edge), rcond=1e-15)[0] / scale


def energy(coefficients: Array, nodes: int = 200) -> float:
    """∫ u over the domain, which is ∫ |∇u|², by Gauss's rule on three squares, graded towards the corner."""
    gauss, weights = np.polynomial.legendre.leggauss(nodes)
    x = ((gauss + 1) / 2) ** 3
    w = weights / 2 * 3 * ((gauss + 1) / 2) ** 2
    weight = np.outer(w, w).ravel()
    total = 0.0
    for sign_x, sign_y in ((-1, -1), (-1, 1), (1, -1)):
        point = (sign_x * x[:, None] + 1j * sign_y * x[None, :]).ravel()
        total += float(weight @ (particular(point) + basis(point) @ coefficients))
    return total


def main() -> None:
    """Fit, report and store."""
    coefficients = fit()
    edge = outer_edges(3 * SAMPLES + 7)
    bound = np.abs(particular(edge) + basis(edge) @ coefficients).max()
    print(f"largest |u| on the outer boundary, a bound for the error everywhere: {bound:.1e}")
    print(f"energy: {energy(coefficients):.10f} and {energy(coefficients, nodes=120):.10f}", end=" ")
    print("(adaptive finite elements in the literature: 0.2140758)")

    by_corner: dict[complex, list[complex]] = {}
    corner_part = coefficients[TERMS:].reshape(len(POWERS), len(UNKNOWNS))
    for row, values in zip(UNKNOWNS, corner_part.T, strict=True):
        for corner, factor in row.items():
            known = by_corner.get(corner, [0j] * len(POWERS))
            by_corner[corner] = [b + factor * value for b, value in zip(known, values, strict=True)]
    stored = {
        "series": coefficients[:TERMS].tolist(),
        "corners": [
            {"x": c.real, "y": c.imag, "b_real": [b.real for b in bs], "b_imag": [b.imag for b in bs]}
            for c, bs in by_corner.items()
        ],
    }
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
