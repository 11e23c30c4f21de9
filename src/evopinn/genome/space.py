"""The search space: the bounds of genomes, and their number."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import comb
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evopinn.checks import shown, whole_number
from evopinn.errors import GenomeError, UnknownNameError
from evopinn.genome.activation import MAX_NAMED_PARAMETERS, Activation
from evopinn.genome.operators import BINARY, OPERATORS, UNARY
from evopinn.genome.start import PAPER_START, STARTS
from evopinn.genome.structure import MAX_LAYERS, MAX_NEURONS
from evopinn.genome.text_fields import WHOLE, TextField, split_fields
from evopinn.genome.tree import MAX_DEPTH, walk

if TYPE_CHECKING:
    from evopinn.genome.genome import Genome

_LIBRARY_UNARY = tuple(name for name, row in UNARY.items() if row.library)
_LIBRARY_BINARY = tuple(name for name, row in BINARY.items() if row.library)
_EXTRA = tuple(name for name, row in OPERATORS.items() if not row.library)
_STARTS = (PAPER_START.kind,)


@dataclass(frozen=True)
class Space:
    """Bounds of a search space; the defaults are those of the paper.

    Attributes:
        min_layers: The fewest layers, including the output layer.
        max_layers: The most layers.
        neurons: The numbers of neurons in a hidden layer, as (least, most, step).
        max_operators: The most operators in an activation function.
        max_parameters: The most learnable parameters in an activation function.
        unary: Names of the unary operators to draw from.
        binary: Names of the binary operators to draw from; may be empty.
        extra: Operators allowed besides, neither drawn nor counted: what common activation functions bring
            in.
        starts: Names of the starts to draw from; their parameters are searched too.

    Examples:
        >>> Space().count_structures()
        283328
    """

    min_layers: int = 3
    max_layers: int = 11
    neurons: tuple[int, int, int] = (20, 50, 2)
    max_operators: int = 7
    max_parameters: int = 3
    unary: tuple[str, ...] = _LIBRARY_UNARY
    binary: tuple[str, ...] = _LIBRARY_BINARY
    extra: tuple[str, ...] = _EXTRA
    starts: tuple[str, ...] = _STARTS

    def __post_init__(self) -> None:
        """Refuse bounds that leave nothing to search."""
        numbers = (self.min_layers, self.max_layers, self.max_operators, self.max_parameters, *self.neurons)
        if len(self.neurons) != 3 or any(whole_number(number) is None for number in numbers):
            raise GenomeError(
                "bounds are whole numbers, and neurons are (least, most, step), "
                f"not layers {self.min_layers!r} to {self.max_layers!r}, neurons {self.neurons!r}, "
                f"{self.max_operators!r} operators and {self.max_parameters!r} parameters."
            )
        if not 2 <= self.min_layers <= self.max_layers <= MAX_LAYERS:
            raise GenomeError(
                f"layers range from 2 or more to at most {MAX_LAYERS}, not from "
                f"{shown(self.min_layers)} to {shown(self.max_layers)}."
            )
        least, most, step = self.neurons
        if not (1 <= least <= most <= MAX_NEURONS and step >= 1):
            raise GenomeError(
                f"neurons are (least, most, step) with 1 ≤ least ≤ most ≤ {MAX_NEURONS} and step ≥ 1, "
                f"not {shown(self.neurons)}."
            )
        object.__setattr__(self, "neurons", (least, least + (most - least) // step * step, step))
        if not 1 <= self.max_operators <= MAX_DEPTH:
            raise GenomeError(f"max_operators must be from 1 to {MAX_DEPTH}, not {self.max_operators}.")
        if not 0 <= self.max_parameters <= MAX_NAMED_PARAMETERS:
            raise GenomeError(
                f"max_parameters must be from 0 to {MAX_NAMED_PARAMETERS}, not {self.max_parameters}."
            )
        for names, kind in ((self.unary, "unary operator"), (self.starts, "start")):
            if not names:
                raise GenomeError(f"a search space needs at least one {kind}.")
        for names, table in (
            (self.unary, UNARY),
            (self.binary, BINARY),
            (self.extra, OPERATORS),
            (self.starts, STARTS),
        ):
            for name in names:
                if name not in table:
                    raise UnknownNameError(_kind(table), name, table)
            if len(set(names)) < len(names):
                raise GenomeError(f"{_kind(table)}s: one is listed twice among {', '.join(names)}.")

    @property
    def neuron_choices(self) -> range:
        """The allowed numbers of neurons."""
        least, most, step = self.neurons
        return range(least, most + 1, step)

    @property
    def varies_start(self) -> bool:
        """Whether there is more than one start to choose from."""
        return len(self.starts) > 1 or any(STARTS[name].parameters for name in self.starts)

    @property
    def text(self) -> str:
        """The text form, which `Space.parse` reads back; names are listed if they are not the default."""
        least, most, step = self.neurons
        parts = [
            f"layers={self.min_layers}-{self.max_layers}",
            f"neurons={least}-{most}:{step}",
            f"operators={self.max_operators}",
            f"parameters={self.max_parameters}",
        ]
        for name, names, default in (
            ("unary", self.unary, _LIBRARY_UNARY),
            ("binary", self.binary, _LIBRARY_BINARY),
            ("extra", self.extra, _EXTRA),
            ("starts", self.starts, _STARTS),
        ):
            if names != default:
                parts.append(f"{name}={','.join(names) or 'none'}")
        return " ".join(parts)

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> "Space":
        """The space of a text such as `layers=2-12 neurons=8-64:4 operators=7 parameters=3`.

        A field left out keeps the paper's bound. `unary`, `binary`, `extra` and `starts` take lists, as in
        `unary=sin,tanh`.

        Raises:
            GenomeSyntaxError: The text cannot be read; the error says where and why.
        """
        space = cls()
        for field in split_fields(text, tuple(_READERS)).values():
            changes = _READERS[field.name](field)
            try:
                space = replace(space, **changes)
            except (GenomeError, UnknownNameError) as error:
                raise field.error(str(error).removesuffix(".")) from None
        return space

    def violations(self, genome: "Genome") -> Iterator[tuple[str, str]]:
        """The bounds that a genome breaks: the name of each field, and the reason."""
        structure, start = genome.structure, genome.start
        if not self.min_layers <= structure.layers <= self.max_layers:
            yield "layers", f"layers={structure.layers} is outside {self.min_layers} to {self.max_layers}"
        if structure.neurons not in self.neuron_choices:
            least, most, step = self.neurons
            yield "neurons", f"neurons={structure.neurons} is not among {least} to {most} in steps of {step}"
        for reason in self._flaws(genome.activation):
            yield "activation", reason
        if start.kind not in self.starts:
            yield (
                "start",
                f"the start {start.kind} is not in this search space, only {', '.join(self.starts)}",
            )

    def _flaws(self, activation: Activation) -> Iterator[str]:
        if activation.size > self.max_operators:
            yield f"the activation has {activation.size} operators; {self.max_operators} are allowed"
        if activation.parameters > self.max_parameters:
            yield f"the activation has {activation.parameters} parameters; {self.max_parameters} are allowed"
        allowed = {*self.unary, *self.binary, *self.extra}
        for _, node in walk(activation.root):
            if node.operator not in allowed:
                yield f"the operator {node.operator} is not in this search space"

    def check(self, genome: "Genome") -> None:
        """Raise `GenomeError`, which names the bound, if a genome is not in this space."""
        for _, reason in self.violations(genome):
            raise GenomeError(f"{reason}.")

    def permits(self, activation: Activation) -> bool:
        """Whether an activation function is within this space."""
        return not any(self._flaws(activation))

    def count_structures(self) -> int:
        """The number of structures: N · Σ_n Fib(2n - 1), for N numbers of neurons and n layers.

        A set of shortcuts in n layers picks disjoint intervals out of n - 1 layers in a row; Fib(2n - 1)
        counts them.
        """
        layers = range(self.min_layers, self.max_layers + 1)
        return len(self.neuron_choices) * sum(_fibonacci(2 * n - 1) for n in layers)

    def count_activations(self, operators: int | None = None) -> int:
        """The number of activation functions with exactly this many operators or, by default, of all sizes.

        With m operators of which b are binary and u = m - b unary, there are Cat(b) · C(m - 1, 2b) shapes of
        trees, U^u · B^b ways to fill them, and Σ_i C(e, i) ways to put i parameters on the e = 2b + u + 1
        edges.
        """
        if operators is None:
            return sum(self.count_activations(m) for m in range(1, self.max_operators + 1))
        total = 0
        for binary in range((operators - 1) // 2 + 1):
            unary = operators - binary
            shapes = comb(2 * binary, binary) // (binary + 1) * comb(operators - 1, 2 * binary)
            fillings = len(self.unary) ** unary * len(self.binary) ** binary
            edges = 2 * binary + unary + 1
            total += shapes * fillings * sum(comb(edges, i) for i in range(self.max_parameters + 1))
        return total

    def count_models(self) -> int:
        """The number of genomes apart from their starts; different trees of one function count separately."""
        return self.count_structures() * self.count_activations()


def _kind(table: object) -> str:
    kinds = ((UNARY, "unary operator"), (BINARY, "binary operator"), (STARTS, "start"))
    return next((kind for each, kind in kinds if table is each), "operator")


def _fibonacci(n: int) -> int:
    this, following = 0, 1
    for _ in range(n):
        this, following = following, this + following
    return this


def _range(field: TextField) -> tuple[int, int, int]:
    """`least-most:step`, of which the step may be left out, or a single number."""
    match = re.fullmatch(rf"({WHOLE})(?:-({WHOLE}))?(?::({WHOLE}))?", field.value, re.ASCII)
    if match is None:
        raise field.error(f"{field.name} is a range such as 20-50 or 20-50:2, not {field.value!r}")
    return int(match[1]), int(match[2] or match[1]), int(match[3] or 1)


def _layers(field: TextField) -> dict[str, Any]:
    least, most, step = _range(field)
    if step != 1:
        raise field.error("layers take no step; write a range such as layers=3-11")
    return {"min_layers": least, "max_layers": most}


def _names(field: TextField) -> dict[str, Any]:
    return {field.name: tuple(item.value for item in field.items())}


_READERS: Mapping[str, Callable[[TextField], dict[str, Any]]] = MappingProxyType(
    {
        "layers": _layers,
        "neurons": lambda field: {"neurons": _range(field)},
        "operators": lambda field: {"max_operators": field.integer()},
        "parameters": lambda field: {"max_parameters": field.integer()},
        "unary": _names,
        "binary": _names,
        "extra": _names,
        "starts": _names,
    }
)

PAPER = Space()
"""The search space of the paper."""
