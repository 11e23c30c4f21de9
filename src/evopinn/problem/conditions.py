"""The conditions that close a problem: initial, boundary, periodic, measured data.

Each is a plain statement; `evopinn.problem.Problem` gives it points and checks it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from evopinn.problem.binding import UserFunction
from evopinn.problem.points import PartChoice


@dataclass(frozen=True, kw_only=True, eq=False)
class Condition:
    """The base class of all conditions; by itself it states nothing.

    Attributes:
        weight: Factor of the condition's mean squares in the loss; "auto" balances them with the residual's.
            If no condition gives a number, all terms are balanced; if one does, those that say nothing have
            the weight 1.
        name: Its name in tables and messages; by default made from its kind.
    """

    weight: float | Literal["auto"] | None = None
    name: str | None = None


@dataclass(frozen=True, eq=False)
class Initial(Condition):
    """A condition at the first instant, on the whole closed spatial domain.

    Attributes:
        function: Returns what must vanish, shape (n,), or a list of such.

    Examples:
        >>> Initial(lambda u, x: u.t - x, weight=100).weight
        100
    """

    function: UserFunction


@dataclass(frozen=True, eq=False)
class Boundary(Condition):
    """A condition on the boundary: Dirichlet, Neumann, Robin, any operator.

    Attributes:
        function: Returns what must vanish, shape (n,), or a list of such. It may ask for the outward normal
            by the names `nx`, `ny`, ... next to fields and coordinates.
        on: The whole boundary (`None`), the name of a part, several names, or a predicate that takes the
            coordinates, in their order, and returns a mask.

    Examples:
        >>> flux = Boundary(lambda u, nx, ny: u.x * nx + u.y * ny, on="outer")
        >>> left = Boundary(lambda u: u, on=lambda x, y: x < 0.5)
    """

    function: UserFunction
    on: PartChoice = None


@dataclass(frozen=True, eq=False)
class Periodic(Condition):
    """Values that agree on two opposite sides.

    Attributes:
        axis: The coordinate that is periodic.
        order: Derivatives along the axis up to this order agree as well.
        fields: The fields concerned; all if not given.
        function: Instead of `order` and `fields`: takes the low and the high side, each with the fields as
            attributes, and returns what must vanish.

    Examples:
        >>> Periodic("x").order
        1
        >>> twisted = Periodic("x", function=lambda low, high: low.u + high.u)
    """

    axis: str
    order: int = 1
    fields: Sequence[str] | None = None
    function: Callable[[Any, Any], Any] | None = None


@dataclass(frozen=True, eq=False)
class Data(Condition):
    """Measured values at points.

    Attributes:
        points: Shape (n, d) in the order of the coordinates, or an array of shape (n,) per coordinate name.
        values: An array of shape (n,) per field or derivative: `{"u": ..., "u.x": ...}`.

    Examples:
        >>> Data([[0.5, 0.1], [0.5, 0.2]], {"u": [1.0, 0.9]}, weight=10).weight
        10
    """

    points: ArrayLike | Mapping[str, ArrayLike]
    values: Mapping[str, ArrayLike]
