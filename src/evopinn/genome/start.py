"""The start of a training: how the initial weights of a network are made, as a gene with parameters.

A row of `STARTS` says what a start is called and which parameters it has; `network/starts.py` has its
function.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

from evopinn.checks import shown
from evopinn.errors import GenomeError, UnknownNameError
from evopinn.genome.text_fields import TextField

_DIGITS = 3
"""Significant digits of the values that a search draws."""

_CALL = re.compile(r"(?P<kind>[^\W\d][\w-]*)\s*(?:\((?P<values>[\s\d.,eE+-]*)\))?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class StartParameter:
    """A number that a start depends on.

    Attributes:
        name: Its name, in JSON and messages.
        meaning: What it is, in a few words.
        default: Its value where none is given.
        least: The least allowed value.
        most: The greatest allowed value.
        searched: The range from which a search draws.
        logarithmic: Whether a search draws its logarithm uniformly, or else the value.
    """

    name: str
    meaning: str
    default: float
    least: float
    most: float
    searched: tuple[float, float]
    logarithmic: bool = True

    def at(self, share: float) -> float:
        """The value at a share of the searched range, from 0 to 1."""
        low, high = map(self._measure, self.searched)
        value = low + share * (high - low)
        return float(f"{math.exp(value) if self.logarithmic else value:.{_DIGITS}g}")

    def share(self, value: float) -> float:
        """The share of the searched range at which a value is; outside of 0 to 1 if it is not in it."""
        low, high = map(self._measure, self.searched)
        return (self._measure(value) - low) / (high - low)

    def _measure(self, value: float) -> float:
        return math.log(value) if self.logarithmic else value


@dataclass(frozen=True)
class StartKind:
    """A way to make initial weights.

    Attributes:
        name: Its name in a genome's text.
        summary: What it does, in a line.
        parameters: In the order of the text form.
        is_fitted: Whether the last layer is then fitted to the problem, by linear least squares.
    """

    name: str
    summary: str
    parameters: tuple[StartParameter, ...] = ()
    is_fitted: bool = False


_SPREADS = (
    StartParameter("spread", "standard deviation of the pre-activations", 1, 0.1, 10, (0.4, 2.5)),
    StartParameter("first", "factor of the spread in the first layer", 1, 0.1, 10, (0.25, 4)),
)

_ROWS = (
    StartKind("paper", "weights uniform in ±sqrt(6 / fan_in), biases 0"),
    StartKind(
        "unit",
        "layer by layer to a given standard deviation of the pre-activations, biases spread as widely",
        _SPREADS,
    ),
    StartKind(
        "fitted",
        "as unit, then the last layer by linear least squares on the problem's residuals",
        _SPREADS,
        is_fitted=True,
    ),
    StartKind(
        "varied",
        "as fitted, but each layer is scaled as a whole: its neurons stay as different as they were drawn",
        _SPREADS,
        is_fitted=True,
    ),
)

STARTS: Mapping[str, StartKind] = MappingProxyType({row.name: row for row in _ROWS})


@dataclass(frozen=True)
class Start:
    """How the initial weights of a network are made.

    Attributes:
        kind: A name in `STARTS`.
        values: Those of its parameters, in their order; the last ones may be left out for their defaults.

    Examples:
        >>> Start("unit", (1, 0.5)).text, Start.parse("unit(1)").values
        ('unit(1,0.5)', (1.0, 1.0))
    """

    kind: str
    values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Fill in defaults; refuse unknown kinds and impossible values."""
        if self.kind not in STARTS:
            raise UnknownNameError("start", self.kind, STARTS, f"There are {', '.join(STARTS)}.")
        given = tuple(_real(value) for value in self.values)
        parameters = STARTS[self.kind].parameters
        if flaw := _flaw(self.kind, given):
            raise GenomeError(f"{flaw[1]}.")
        defaults = (float(parameter.default) for parameter in parameters[len(given) :])
        object.__setattr__(self, "values", (*given, *defaults))

    @cached_property
    def text(self) -> str:
        """The text form, without the defaults at its end; `Start.parse` reads it back exactly."""
        values = list(self.values)
        for parameter in reversed(STARTS[self.kind].parameters):
            if values[-1] != parameter.default:
                break
            values.pop()
        written = ",".join(repr(value).removesuffix(".0") for value in values)
        return f"{self.kind}({written})" if written else self.kind

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> "Start":
        """Read a start from a text such as `paper`, `unit` or `unit(1,0.5)`.

        Raises:
            GenomeSyntaxError: The text cannot be read; the error says where and why.
        """
        leading = len(text) - len(text.lstrip())
        return start_from_field(TextField(text, "start", text.strip(), leading))

    def to_json(self) -> dict[str, Any]:
        """Plain data that `json.dump` takes: the kind, and each parameter by its name."""
        names = (parameter.name for parameter in STARTS[self.kind].parameters)
        return {"kind": self.kind, **dict(zip(names, self.values, strict=True))}

    @classmethod
    def from_json(cls, data: object) -> "Start":
        """The start of `to_json`'s data; a parameter that is missing has its default."""
        given = dict(cast(Mapping[str, Any], data)) if isinstance(data, Mapping) else {}
        if "kind" not in given:
            raise GenomeError(
                f"a start is an object with a kind and parameters, not {shown(cast(object, data))}."
            )
        start = cls(str(given.pop("kind")))
        parameters = STARTS[start.kind].parameters
        names = [parameter.name for parameter in parameters]
        for name in given:
            if name not in names:
                raise UnknownNameError(f"parameter of the start {start.kind}", str(name), names)
        return cls(start.kind, tuple(given.get(each.name, each.default) for each in parameters))


def start_from_field(field: TextField) -> Start:
    """The start from a field of a text; errors give the position in it."""
    match = _CALL.fullmatch(field.value)
    if match is None:
        raise field.error(f"a start is a name and numbers, as in unit(1,0.5), not {field.value!r}")
    kind = match["kind"]
    if kind not in STARTS:
        raise field.error(f"there is no start {kind}; expected {', '.join(STARTS)}")
    listed = match["values"] or ""
    items = TextField(field.text, kind, listed, field.position + match.start("values")).items()
    for item in items:
        if not _NUMBER.fullmatch(item.value):
            raise item.error(f"a parameter of the start {kind} is a number, not {item.value!r}")
    values = tuple(float(item.value) for item in items)
    if flaw := _flaw(kind, values):
        place, reason = flaw
        raise items[place].error(reason)
    return Start(kind, values)


def _flaw(kind: str, values: Sequence[float]) -> tuple[int, str] | None:
    """The index of the first impossible value, and the reason, if there is one."""
    parameters = STARTS[kind].parameters
    if len(values) > len(parameters):
        names = ", ".join(parameter.name for parameter in parameters)
        known = f"its parameters are {names}" if names else "it has no parameters"
        return len(parameters), f"the start {kind} is given {len(values)} numbers; {known}"
    for place, (parameter, value) in enumerate(zip(parameters, values, strict=False)):
        if not parameter.least <= value <= parameter.most:
            bounds = f"{parameter.least:g} to {parameter.most:g}"
            return place, f"{parameter.name} of the start {kind} is {value:g}; it must be from {bounds}"
    return None


def _real(value: object) -> float:
    """A number as a float, which text and flags are not."""
    try:
        number = None if isinstance(value, str | bool) else float(cast(Any, value))
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None:
        raise GenomeError(f"a parameter of a start is a number, not {shown(value)}.")
    return number


PAPER_START = Start("paper")
"""The start of the paper's experiments, and of every genome that says nothing else."""
