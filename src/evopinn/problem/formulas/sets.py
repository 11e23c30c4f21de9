"""Domains in LaTeX."""

from collections.abc import Sequence

from evopinn.problem.domains import Disk, Domain, Polygon, Ring
from evopinn.problem.domains.boolean import Combination, Renamed
from evopinn.problem.domains.boxes import AxisAligned
from evopinn.problem.domains.domain import Shape
from evopinn.problem.formulas.numerals import print_name, print_number

_OPERATIONS = {"union": r"\cup", "difference": r"\setminus", "intersection": r"\cap"}
_CORNERS = 8


def print_domain(domain: Domain, axes: Sequence[str]) -> str:
    r"""A domain as a set: `(x, t) \in (0, 1) \times (0, 1]`."""
    symbols = [print_name(axis) for axis in axes]
    point = symbols[0] if len(symbols) == 1 else f"({', '.join(symbols)})"
    space = _shape(domain.space, symbols)
    time = domain.time
    if time is None:
        return rf"{point} \in {space}"
    if isinstance(domain.space, Combination):
        space = rf"\bigl( {space} \bigr)"
    return rf"{point} \in {space} \times ({print_number(time.start)}, {print_number(time.end)}]"


def _shape(shape: Shape, axes: Sequence[str]) -> str:  # noqa: PLR0911 - one for each kind
    match shape:
        case AxisAligned():
            return r" \times ".join(f"({print_number(a)}, {print_number(b)})" for a, b in shape.spans)
        case Disk():
            return rf"\{{ {_distance(shape.center, axes)} < {print_number(shape.radius)} \}}"
        case Ring():
            low, high = print_number(shape.inner), print_number(shape.outer)
            return rf"\{{ {low} < {_distance(shape.center, axes)} < {high} \}}"
        case Combination():
            first, second = (_shape(each, axes) for each in (shape.first, shape.second))
            if isinstance(shape.second, Combination):
                second = rf"\bigl( {second} \bigr)"
            return f"{first} {_OPERATIONS[shape.operation]} {second}"
        case Renamed():
            return _shape(shape.shape, axes)
        case Polygon() if len(shape.vertices) <= _CORNERS:
            corners = ",\\; ".join(f"({print_number(x)}, {print_number(y)})" for x, y in shape.vertices)
            return rf"\text{{polygon }} {corners}"
        case _:
            box = r" \times ".join(
                f"({print_number(float(a))}, {print_number(float(b))})" for a, b in shape.bounds
            )
            return rf"\Omega \subset {box}"


def _distance(center: Sequence[float], axes: Sequence[str]) -> str:
    parts = [
        f"{axis}^{{2}}" if not c else f"({axis} {'-' if c > 0 else '+'} {print_number(abs(c))})^{{2}}"
        for axis, c in zip(axes, center, strict=False)
    ]
    return rf"\sqrt{{{' + '.join(parts)}}}"
