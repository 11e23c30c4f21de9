"""Calls of a user's functions with the arguments that they ask for by name.

A residual is written as in a paper, `def residual(u, x, t)`: each argument is a field, a coordinate or, on a
boundary, a component of the outward normal (`nx`, `ny`, ...), in any order, and only those that are needed.
"""

import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from evopinn.errors import MemoryShortageError, ProblemError, lacks_memory
from evopinn.problem.fields import FieldValues, as_tensor

T = TypeVar("T")

UserFunction = Callable[..., Any]

PACKAGE = Path(__file__).parents[1]
"""The directory of evopinn's own code, whose lines are never the user's."""


@dataclass(frozen=True)
class BoundFunction:
    """A user's function together with the names of the arguments that it asks for.

    Attributes:
        function: The user's function.
        label: How messages call it, for instance "the residual".
        arguments: The names that it asks for.
    """

    function: UserFunction
    label: str
    arguments: tuple[str, ...]

    @classmethod
    def of(cls, function: UserFunction, label: str, known: Mapping[str, str]) -> "BoundFunction":
        """Look at a function's signature.

        Args:
            function: The user's function.
            label: How messages call it.
            known: Each name that may be asked for, with what it is ("field", "coordinate", "normal").
        """
        if not callable(function):
            raise ProblemError(
                f"{label} is a {type(function).__name__}; give a function such as lambda u, x: u - x."
            )
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError) as error:  # built-in functions may have no signature
            raise ProblemError(f"the arguments of {label} have no names; wrap it in a lambda.") from error
        arguments: list[str] = []
        for parameter in parameters:
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise ProblemError(f"{label} takes {parameter}; name its arguments: {_listing(known)}.")
            if parameter.name in known:
                arguments.append(parameter.name)
            elif parameter.default is parameter.empty:
                raise ProblemError(
                    f"{label} asks for {parameter.name!r}, which is neither a field nor a coordinate here; "
                    f"it can ask for {_listing(known)}; rename coordinates by Problem(coordinates=[...])."
                )
        return cls(function, label, tuple(arguments))

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Call the function with the arguments that it asks for."""
        return guarded(self.label, lambda: self.function(**{name: values[name] for name in self.arguments}))


def guarded(label: str, call: Callable[[], T]) -> T:
    """Call a user's function; an error inside it becomes one of ours, in one sentence."""
    try:
        return call()
    except (ProblemError, MemoryShortageError) as error:
        raise error_class(error)(f"{label}: {error}") from error
    except (Exception, SystemExit) as error:  # a user's function may raise anything, and may try to exit
        raise error_class(error)(f"{label} raised {describe_error(error)}.") from error


def error_class(error: BaseException) -> type[ProblemError | MemoryShortageError]:
    """The error to raise for one in a user's code: the problem is wrong, unless memory ran out."""
    return MemoryShortageError if lacks_memory(error) else ProblemError


def _listing(known: Mapping[str, str]) -> str:
    kinds = dict.fromkeys(known.values())
    return "; ".join(
        f"{kind} {', '.join(name for name, its in known.items() if its == kind)}" for kind in kinds
    )


def user_line(error: BaseException) -> str:
    """The line of the user's code that raised an error: ` (my_problem.py, line 7)`, or nothing if unknown."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno})"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not Path(frame.filename).is_relative_to(PACKAGE)
        and "site-packages" not in frame.filename
        and not frame.filename.startswith("<")
    ]
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


def describe_error(error: BaseException) -> str:
    """One sentence on an error in a user's code, with its line."""
    what = error.msg if isinstance(error, SyntaxError) else error
    advice = ""
    if isinstance(error, AttributeError) and isinstance(error.obj, Tensor):
        advice = (
            "; only fields have derivatives: expand a derivative of an expression by the product rule, "
            "or introduce a field for it"
        )
    return f"{type(error).__name__}: {what}{advice}{user_line(error)}"


def components(value: Any, count: int, label: str) -> tuple[Tensor, ...]:
    """The values that a residual returned, as a tuple of tensors of shape (n,).

    Anything of another shape is refused: a silent broadcast of (n,) against (n, 1) gives n² residuals and a
    wrong answer.

    Args:
        value: A tensor, array or field, or a list or tuple of them.
        count: The number of points, n.
        label: How messages call the function.
    """
    listed = isinstance(value, list | tuple)
    items = cast("Sequence[Any]", value) if listed else [value]
    if not items:
        raise ProblemError(f"{label} returned an empty list; expected at least one residual.")
    return tuple(
        _component(item, count, f"{label}, component {position}," if listed else label)
        for position, item in enumerate(items)
    )


def _component(item: Any, count: int, label: str) -> Tensor:
    if not isinstance(item, Tensor | FieldValues | np.ndarray | float | int):
        raise ProblemError(
            f"{label} returned a {type(item).__name__}; expected a tensor of shape ({count},) or a list."
        )
    tensor = as_tensor(item)
    if tuple(tensor.shape) != (count,):
        raise ProblemError(
            f"{label} returned shape {tuple(tensor.shape)}; expected ({count},), one number per point: "
            "coordinates, fields and their derivatives all have that shape, so nothing needs reshaping."
        )
    if torch.is_complex(tensor):
        raise ProblemError(f"{label} is complex; return its real and imaginary parts as a list of two.")
    if not torch.is_floating_point(tensor):
        raise ProblemError(f"{label} returned {tensor.dtype} numbers; expected floating-point ones.")
    return tensor
