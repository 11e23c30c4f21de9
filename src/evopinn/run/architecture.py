"""Descriptions of genomes for people: their parts, sizes and formulas; other text stays as it is."""

from dataclasses import dataclass
from functools import cached_property

from evopinn import network
from evopinn.errors import EvopinnError
from evopinn.genome import Genome, Structure


def structure_text(genome: str) -> str:
    """The part of a genome's text before the activation."""
    return genome.partition(" activation=")[0]


def activation_text(genome: str) -> str:
    """The activation in a genome's text."""
    return function_text(genome).partition(" start=")[0]


def start_text(genome: str) -> str:
    """The start, which ends a genome's text; empty for the paper's, which is not written."""
    return function_text(genome).partition(" start=")[2]


def function_text(genome: str) -> str:
    """The part of a genome's text after the structure: the activation, and a start other than the paper's."""
    return genome.partition(" activation=")[2]


@dataclass(frozen=True)
class Architecture:
    """The description of a genome; unknown parts are None or empty.

    Attributes:
        text: Its text.
        sizes: The numbers of inputs and outputs of its networks, if known.
    """

    text: str
    sizes: tuple[int, int] | None = None

    @cached_property
    def genome(self) -> Genome | None:
        """The genome, if the text is one."""
        try:
            return Genome.parse(self.text)
        except (EvopinnError, ValueError):  # Python refuses to read numbers of thousands of digits
            return None

    @property
    def activation(self) -> str:
        """Its text."""
        return activation_text(self.text)

    @property
    def start(self) -> str:
        """The text of its start; empty for the paper's."""
        return start_text(self.text)

    @property
    def function(self) -> str:
        """The text of its activation, and of a start other than the paper's: `sin(x) start=unit`."""
        return function_text(self.text)

    @property
    def structure(self) -> str:
        """Layers, neurons and shortcuts in brief: `7×30 [0-1, 1-2]`."""
        structure = self._structure
        if structure is None:
            return structure_text(self.text)
        shortcuts = _shortcuts(structure)
        return self.size + (f" [{shortcuts}]" if shortcuts else "")

    @property
    def size(self) -> str:
        """Layers and neurons in brief: `7×30`."""
        structure = self._structure
        return "" if structure is None else f"{structure.layers}×{structure.neurons}"

    @property
    def shortcuts(self) -> int | None:
        """The number of shortcuts."""
        structure = self._structure
        return None if structure is None else len(structure.shortcuts)

    @property
    def description(self) -> str:
        """The structure in words: `6 hidden layers of 30 neurons, shortcuts 0-1, 1-2`."""
        structure = self._structure
        if structure is None:
            return structure_text(self.text)
        hidden = structure.layers - 1
        shortcuts = _shortcuts(structure)
        layers = f"{hidden} hidden layer{'s' * (hidden > 1)} of {structure.neurons} neurons"
        return f"{layers}, {f'shortcuts {shortcuts}' if shortcuts else 'no shortcuts'}"

    @property
    def parameters(self) -> int | None:
        """The number of trained parameters."""
        if self.genome is None or self.sizes is None:
            return None
        try:
            return network.Layout.of_network(self.genome, *self.sizes).size
        except EvopinnError:
            return None

    @property
    def latex(self) -> str:
        """The activation in LaTeX."""
        return "" if self.genome is None else self.genome.activation.latex()

    @property
    def _structure(self) -> Structure | None:
        return self.genome and self.genome.structure


def _shortcuts(structure: Structure) -> str:
    return ", ".join(f"{start}-{end}" for start, end in structure.shortcuts)
