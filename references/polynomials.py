"""Polynomials of the vectorised elementary functions, with the least possible relative error.

Each row of `polynomials` is a function g to approximate by a polynomial p on an interval, with a weight w
that turns the error of p into the relative error of the elementary function. Remez's exchange minimises
max |w (g - p)|. The script then rounds the coefficients one by one, lowest first, and
fits the others again after each, to compensate for the rounding.

    python references/polynomials.py > src/evopinn/engine/fused/coefficients.py

It prints progress and the remaining errors, in units of 2⁻⁵³ and 2⁻²⁴, to standard error.
"""

import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass

from mpmath import mp, mpf

mp.dps = 60
Function = Callable[[mpf], mpf]

LN2 = mp.log(2)
ERF_END = mpf("0.75")  # where erf and erfc change from one polynomial to the other
ERFC_SHIFT = mpf(3)
ERF_MIDDLE, ERFC_MIDDLE = mpf(3) / 16, mpf(5) / 32  # approximate middles of the intervals of 1/(x + 3)
GRID = 40  # points per coefficient at which the error is evaluated
HEADER = '''"""Coefficients of polynomials, lowest order first, and constants in parts that add up to them.

Written by `references/polynomials.py`, which says what each polynomial approximates, and where.
"""

from collections.abc import Mapping
from typing import Final
'''


@dataclass(frozen=True)
class Precision:
    """A floating-point format: its bits, and the arguments at which erf is one and erfc zero."""

    name: str
    bits: int
    erf_end: float
    erfc_end: float

    def rounded(self, value: mpf) -> float:
        """The nearest number of the format."""
        code = "d" if self.bits == 53 else "f"
        return struct.unpack(code, struct.pack(code, float(value)))[0]

    def parts(self, value: mpf, widths: tuple[int, ...]) -> tuple[float, ...]:
        """Numbers that add up to `value`, each with at most as many bits as its width."""
        found: list[float] = []
        for width in widths:
            rest = value - sum(map(mpf, found))
            unit = mp.ldexp(1, int(mp.floor(mp.log(abs(rest), 2))) + 1 - width)
            found.append(float(mp.nint(rest / unit) * unit))
        return tuple(found)


PRECISIONS = (Precision("float64", 53, 6.0, 27.3), Precision("float32", 24, 4.0, 10.1))


@dataclass(frozen=True)
class Polynomial:
    """A row: a function (`g`), the weight of its error, the interval, and the number of terms."""

    g: Function
    weight: Function
    low: mpf
    high: mpf
    terms: dict[str, int]


def root(f: Callable[[mpf], mpf]) -> Function:
    """U ↦ f(√u), for functions that are even."""
    return lambda u: f(mp.sqrt(u))


def erfc_argument(t: mpf, middle: mpf) -> mpf:
    """The x of t = 1/(x + 3) - middle."""
    return 1 / (t + middle) - ERFC_SHIFT


def erfc_scaled(middle: mpf) -> Function:
    """The function exp(x²) erfc(x) (x + 3) of t."""

    def g(t: mpf) -> mpf:
        x = erfc_argument(t, middle)
        return mp.exp(x * x) * mp.erfc(x) * (x + ERFC_SHIFT)

    return g


def erf_tail_weight(t: mpf) -> mpf:
    """The relative effect of the polynomial's error on erf(x), which is 1 minus a decaying function."""
    x = erfc_argument(t, ERF_MIDDLE)
    return mp.exp(-x * x) / (x + ERFC_SHIFT) / mp.erf(x)


def polynomials(precision: Precision) -> dict[str, Polynomial]:
    """All rows. If g is a quotient, the weight is its factor relative to the function."""
    half_ln2 = LN2 / 2 * (1 + mpf(2) ** -20)
    quarter_pi = mp.pi / 4 * (1 + mpf(2) ** -20)
    octant = mp.tan(mp.pi / 8) * (1 + mpf(2) ** -20)
    zero = mpf(0)
    return {
        # cosh r = 1 + u p(u), sinh r = r + r u p(u), u = r², |r| ≤ ln 2 / 2
        "cosh": Polynomial(
            root(lambda r: (mp.cosh(r) - 1) / r**2),
            lambda u: u,
            zero,
            half_ln2**2,
            {"float64": 5, "float32": 3},
        ),
        "sinh": Polynomial(
            root(lambda r: (mp.sinh(r) / r - 1) / r**2),
            lambda u: u,
            zero,
            half_ln2**2,
            {"float64": 5, "float32": 2},
        ),
        # cos r = 1 - u/2 + u² p(u), sin r = r + r u p(u), u = r², |r| ≤ π/4
        "cos": Polynomial(
            root(lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4),
            root(lambda r: r**4 / mp.cos(r)),
            zero,
            quarter_pi**2,
            {"float64": 6, "float32": 3},
        ),
        "sin": Polynomial(
            root(lambda r: (mp.sin(r) / r - 1) / r**2),
            root(lambda r: r**3 / mp.sin(r)),
            zero,
            quarter_pi**2,
            {"float64": 6, "float32": 3},
        ),
        # log(1 + f) = f - f²/2 + f³ p(f), √½ ≤ 1 + f ≤ √2
        "log": Polynomial(
            lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3,
            lambda f: f**2 + mpf("0.003"),  # the exchange needs a weight without zeros
            mp.sqrt(mpf(0.5)) - 1,
            mp.sqrt(2) - 1,
            {"float64": 19, "float32": 9},
        ),
        # atan x = x + x u p(u), u = x², |x| ≤ tan(π/8)
        "atan": Polynomial(
            root(lambda x: (mp.atan(x) / x - 1) / x**2),
            root(lambda x: x**3 / mp.atan(x)),
            zero,
            octant**2,
            {"float64": 11, "float32": 5},
        ),
        # erf x = x + x p(u), u = x²
        "erf": Polynomial(
            root(lambda x: mp.erf(x) / x - 1),
            root(lambda x: x / mp.erf(x)),
            zero,
            ERF_END**2,
            {"float64": 11, "float32": 6},
        ),
        # erf x = 1 - exp(-x²) w p(w - 3/16), w = 1/(x + 3)
        "erf_tail": Polynomial(
            erfc_scaled(ERF_MIDDLE),
            erf_tail_weight,
            1 / (precision.erf_end + ERFC_SHIFT) - ERF_MIDDLE,
            1 / (ERF_END + ERFC_SHIFT) - ERF_MIDDLE,
            {"float64": 13, "float32": 6},
        ),
        # erfc x = exp(-x²) w p(w - 5/32), w = 1/(x + 3)
        "erfc": Polynomial(
            erfc_scaled(ERFC_MIDDLE),
            lambda t: 1 / erfc_scaled(ERFC_MIDDLE)(t),
            1 / (precision.erfc_end + ERFC_SHIFT) - ERFC_MIDDLE,
            1 / (ERF_END + ERFC_SHIFT) - ERFC_MIDDLE,
            {"float64": 21, "float32": 9},
        ),
    }


def remez(
    powers: list[int], points: list[mpf], values: list[mpf], weights: list[mpf]
) -> tuple[list[mpf], mpf]:
    """The coefficients that minimise the largest weighted error on the (sorted) points, and that error."""
    size = len(powers)
    chosen = [
        round((1 - mp.cos(mp.pi * (i + mpf(0.5)) / (size + 1))) / 2 * (len(points) - 1))
        for i in range(size + 1)
    ]
    scale = max(abs(points[0]), abs(points[-1]))  # monomials of magnitude one keep the system solvable
    basis = [[(x / scale) ** power for power in powers] for x in points]
    for _ in range(30):
        system = mp.matrix([[*basis[i], (-1) ** n / weights[i]] for n, i in enumerate(chosen)])
        solution = mp.lu_solve(system, mp.matrix([values[i] for i in chosen]))
        c, level = [solution[j] for j in range(size)], abs(solution[size])
        errors = [w * (v - mp.fdot(c, row)) for w, v, row in zip(weights, values, basis, strict=True)]
        extrema: list[int] = []  # the largest error of each run of errors of one sign
        for i, error in enumerate(errors):
            if extrema and (errors[extrema[-1]] > 0) == (error > 0):
                if abs(error) > abs(errors[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        while len(extrema) > size + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        worst = max(map(abs, errors))
        if len(extrema) < size + 1 or extrema == chosen or worst < level * (1 + mpf("1e-4")):
            break
        chosen = extrema
    return [c[j] / scale**power for j, power in enumerate(powers)], worst


def least_squares(
    powers: list[int], points: list[mpf], values: list[mpf], weights: list[mpf]
) -> tuple[list[mpf], mpf]:
    """Like `remez`, but with the smallest sum of squares; the points are dense at the ends."""
    scale = max(abs(points[0]), abs(points[-1]))
    rows = [[w * (x / scale) ** power for power in powers] for x, w in zip(points, weights, strict=True)]
    right = [w * v for w, v in zip(weights, values, strict=True)]
    columns = list(zip(*rows, strict=True))
    normal = mp.matrix([[mp.fdot(a, b) for b in columns] for a in columns])
    solution = mp.lu_solve(normal, mp.matrix([mp.fdot(a, right) for a in columns]))
    worst = max(abs(r - mp.fdot(solution, row)) for r, row in zip(right, rows, strict=True))
    return [solution[j] / scale**power for j, power in enumerate(powers)], worst


def fitted(row: Polynomial, precision: Precision) -> tuple[list[float], mpf]:
    """The rounded coefficients of a row, and the largest weighted error that remains."""
    terms = row.terms[precision.name]
    count = GRID * terms
    middle, half = (row.low + row.high) / 2, (row.high - row.low) / 2
    points = [middle - half * mp.cos(mp.pi * (i + mpf(0.5)) / count) for i in range(count)]
    values, weights = [row.g(x) for x in points], [abs(row.weight(x)) for x in points]
    rounded: list[float] = []
    while len(rounded) < terms:
        rest = [v - mp.polyval(rounded[::-1] or [0], x) for v, x in zip(values, points, strict=True)]
        # higher powers alone all vanish at zero: with zero inside the interval, no error alternates
        fit = least_squares if rounded and row.low < 0 else remez
        coefficients, _ = fit(list(range(len(rounded), terms)), points, rest, weights)
        rounded.append(precision.rounded(coefficients[0]))
    error = max(
        w * abs(v - mp.polyval(rounded[::-1], x)) for x, v, w in zip(points, values, weights, strict=True)
    )
    return rounded, error


def table(precision: Precision) -> dict[str, tuple[float, ...]]:
    """All coefficients and constants of one format."""
    short = precision.bits - 12  # so that multiples by an exponent are exact
    full = precision.bits
    found: dict[str, tuple[float, ...]] = {
        "ln2": precision.parts(LN2, (short, full)),
        "half_pi": precision.parts(mp.pi / 2, (full, full, full)),
        "quarter_pi": precision.parts(mp.pi / 4, (full, full)),
    }
    for name, row in polynomials(precision).items():
        coefficients, error = fitted(row, precision)
        print(precision.name, name, len(coefficients), mp.nstr(error * 2**precision.bits, 3), file=sys.stderr)
        found[name] = tuple(coefficients)
    return found


def main() -> None:
    """Print the module of coefficients."""
    print(HEADER)
    for precision in PRECISIONS:
        print(f"{precision.name.upper()}: Final[Mapping[str, tuple[float, ...]]] = {{")
        for name, numbers in table(precision).items():
            print(f'    "{name}": (')
            for number in numbers:
                print(f"        {number!r},")
            print("    ),")
        print("}\n")
    tables = ", ".join(f'"{precision.name}": {precision.name.upper()}' for precision in PRECISIONS)
    print(f"TABLES: Final[Mapping[str, Mapping[str, tuple[float, ...]]]] = {{{tables}}}")


if __name__ == "__main__":
    main()
