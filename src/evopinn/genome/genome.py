"""Genomes: complete descriptions of networks, independent of the problems that they solve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, cast

from evopinn.checks import shown, whole_number
from evopinn.errors import GenomeError, GenomeSyntaxError
from evopinn.genome.activation import Activation
from evopinn.genome.space import Space
from evopinn.genome.start import PAPER_START, Start, start_from_field
from evopinn.genome.structure import STRUCTURE_FIELDS, Structure, structure_from_fields
from evopinn.genome.text_fields import TextField, split_fields

_REQUIRED = (*STRUCTURE_FIELDS, "activation")
_FIELDS = (*_REQUIRED, "start")

DEFAULT_GENOME = "layers=5 neurons=14 activation=sin(x)"
"""The network of a training for which none is named: a good small one for Levenberg-Marquardt."""


@dataclass(frozen=True)
class Genome:
    """A structure gene, an activation gene and a start gene.

    Attributes:
        structure: Layers, neurons and shortcuts.
        activation: The activation function of all hidden layers; each layer learns parameters of its own.
        start: How the initial weights are made. Text, JSON and key mention it only if it is not the paper's.

    Examples:
        >>> genome = Genome.parse("layers=6 neurons=48 shortcuts=0-1,1-2 activation=asinh(x)*cos(x)")
        >>> genome.structure.layers, genome.activation.size
        (6, 3)
    """

    structure: Structure
    activation: Activation
    start: Start = PAPER_START

    def __post_init__(self) -> None:
        """Refuse parts in text form: `Genome.parse` reads those."""
        parts = ((self.structure, Structure), (self.activation, Activation), (self.start, Start))
        for part, kind in parts:
            if not isinstance(part, kind):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise GenomeError(
                    f"a genome needs a {kind.__name__}, not {part!r}; `Genome.parse` reads text."
                )

    @cached_property
    def text(self) -> str:
        """The text form; `Genome.parse` reads it back to the same genome."""
        return f"{self.structure.text} activation={self.activation.text}{self._start_text}"

    def __str__(self) -> str:
        return self.text

    @cached_property
    def key(self) -> str:
        """A short name: 16 hexadecimal digits that depend on the genome alone, the same in every run."""
        text = f"{self.structure.text} {self.activation.key}{self._start_text}"
        return sha256(text.encode()).hexdigest()[:16]

    @property
    def _start_text(self) -> str:
        return "" if self.start == PAPER_START else f" start={self.start.text}"

    @classmethod
    def parse(cls, text: str, space: Space | None = None) -> "Genome":
        """Read a genome from its text form.

        Args:
            text: Fields `layers`, `neurons`, `shortcuts` (may be left out: none), `activation` and `start`
                (may be left out: the paper's), in any order. The activation may be in quotes.
            space: If given, the genome must lie in it.

        Raises:
            GenomeSyntaxError: Says which character is wrong, and why; also for a genome outside the space.
        """
        fields = split_fields(text, _FIELDS, ("layers", "neurons", "activation"))
        structure = structure_from_fields(fields)
        start = start_from_field(fields["start"]) if "start" in fields else PAPER_START
        genome = cls(structure, _activation(fields["activation"]), start)
        if space is not None:
            for name, reason in space.violations(genome):
                raise fields.get(name, fields["activation"]).error(reason)
        return genome

    def to_json(self) -> dict[str, Any]:
        """Plain data that `json.dump` takes."""
        return {
            "layers": self.structure.layers,
            "neurons": self.structure.neurons,
            "shortcuts": [list(shortcut) for shortcut in self.structure.shortcuts],
            "activation": self.activation.to_json(),
            **({} if self.start == PAPER_START else {"start": self.start.to_json()}),
        }

    @classmethod
    def from_json(cls, data: object) -> "Genome":
        """The genome of `to_json`'s data."""
        if not isinstance(data, Mapping):
            raise GenomeError(
                f"a genome is an object with the fields {', '.join(_FIELDS)}, not {shown(data)}."
            )
        fields = dict(cast(Mapping[str, object], data))
        if not set(_REQUIRED) <= set(fields) <= set(_FIELDS):
            raise GenomeError(
                f"a genome has the fields {', '.join(_FIELDS)}, not {', '.join(fields) or 'none'}."
            )
        layers, neurons, shortcuts = fields["layers"], fields["neurons"], fields["shortcuts"]
        if whole_number(layers) is None or whole_number(neurons) is None:
            raise GenomeError(
                f"layers and neurons are whole numbers, not {shown(layers)} and {shown(neurons)}."
            )
        structure = Structure(cast(int, layers), cast(int, neurons), _shortcuts(shortcuts))
        start = Start.from_json(fields["start"]) if "start" in fields else PAPER_START
        return cls(structure, Activation.from_json(fields["activation"]), start)


def _activation(field: TextField) -> Activation:
    try:
        return Activation.parse(field.value)
    except GenomeSyntaxError as error:
        # The position within the activation becomes one within the whole text.
        raise field.error(error.reason, error.position) from None


def _shortcuts(data: object) -> tuple[tuple[int, int], ...]:
    flaw = GenomeError(f"shortcuts are a list of pairs of whole numbers, not {shown(data)}.")
    if not isinstance(data, list | tuple):
        raise flaw
    pairs: list[tuple[int, int]] = []
    for pair in cast(Sequence[object], data):
        if not isinstance(pair, list | tuple):
            raise flaw
        ends = cast(Sequence[object], pair)
        if len(ends) != 2 or any(whole_number(end) is None for end in ends):
            raise flaw
        pairs.append(cast(tuple[int, int], tuple(ends)))
    return tuple(pairs)
