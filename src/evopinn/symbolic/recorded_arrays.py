"""Arrays that compute as usual and record what is done with them.

Symbols alone cannot follow a function that calls anything it likes: sums over points, indices, shapes,
writing into arrays. Recorded arrays can, since they have values. The only thing they refuse is to reveal
these values.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from torch import Tensor

from evopinn.errors import ProblemError
from evopinn.symbolic.symbols import Symbol, Vocabulary

_LOOKS: Final = frozenset(
    {
        *("__bool__", "__float__", "__int__", "__index__", "__array__"),
        *("item", "tolist", "numpy", "equal", "allclose"),
    }
)
"""Operations that reveal values."""

_OPERATORS: Final = {
    **{"radd": ("add", -1), "rsub": ("sub", -1), "rmul": ("mul", -1)},
    **{"truediv": ("div", 1), "true_divide": ("div", 1)},
}
"""Python's operators by torch's names, and which way round their operands are. torch's synonyms
(`torch.multiply`) keep their names: what a run took them for before it must take them for when resumed."""


class Recording:
    """What was done with the arrays that it gave out.

    Attributes:
        calls: The calls in order, also those whose results went nowhere: one may have written into an array.
    """

    def __init__(self) -> None:
        self._vocabulary = Vocabulary({})
        self.calls: list[Symbol] = []

    def input(self, values: Tensor, name: Any) -> "RecordedArray":
        """An array that is an input of the recording."""
        return self._array(values, self._vocabulary.input(name))

    def called(self, name: str, args: Sequence[Any], options: Mapping[str, Any], result: Any) -> Any:
        """Record a call; returns its result, recorded."""
        name = name.removeprefix("__").removesuffix("__")
        operation, step = _OPERATORS.get(name, (name, 1))
        if options:
            operation = f"{operation} with {', '.join(options)}"
        operands = [self._symbol(each) for each in _flat((*args[::step], *options.values()))]
        call = self._vocabulary.made(operation, *operands)
        self.calls.append(call)
        if isinstance(result, list | tuple):
            parts = [
                self._array(each, self._vocabulary.made(f"part {number}", call))
                for number, each in enumerate(cast("Sequence[Any]", result))
            ]
            return parts if isinstance(result, list) else tuple(parts)
        return self._array(result, call)

    def _symbol(self, value: Any) -> Symbol:
        if isinstance(value, RecordedArray):
            return value.symbol
        if isinstance(value, int | float):
            return self._vocabulary.constant(value)
        return self._vocabulary.input(object())  # equal to nothing else

    def _array(self, values: Any, symbol: Symbol) -> Any:
        if not isinstance(values, Tensor):
            return values
        array = values.as_subclass(RecordedArray)
        array.symbol, array.recording = symbol, self
        return array


class RecordedArray(Tensor):
    """Values with the symbol of what was done to get them.

    Attributes:
        symbol: The symbol.
        recording: Where calls are noted.
    """

    symbol: Symbol
    recording: Recording

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """The function's result, recorded."""
        options = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name in _LOOKS:
            raise ProblemError("branches on its values")
        recorded = [each for each in _flat((*args, *options.values())) if isinstance(each, cls)]
        result: Any = cast(Any, super()).__torch_function__(func, types, args, options)
        return recorded[0].recording.called(name, args, options, result) if recorded else result


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flat(cast("Sequence[Any]", value))
        else:
            yield value
