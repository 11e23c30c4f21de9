"""The structure of a network: layers, neurons and shortcuts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from evopinn.checks import shown, whole_number
from evopinn.errors import GenomeError
from evopinn.genome.text_fields import WHOLE, TextField, split_fields

Shortcut = tuple[int, int]

MAX_LAYERS, MAX_NEURONS = 1000, 10_000
"""The limits of a network: a larger one cannot be trained, and would run out of memory first."""

STRUCTURE_FIELDS = ("layers", "neurons", "shortcuts")


@dataclass(frozen=True)
class Structure:
    """A fully connected network with shortcuts.

    Shortcut (i, j) adds the input of layer i to the input of layer j, so it spans layers i, ..., j - 1. Each
    layer is spanned by at most one shortcut, the last layer by none: 0 ≤ i < j ≤ layers - 1, and the
    intervals [i, j) are disjoint (they may touch).

    Attributes:
        layers: The number of fully connected layers, including the output layer.
        neurons: The number of neurons in each hidden layer.
        shortcuts: In increasing order, whatever the order of the argument.

    Examples:
        >>> Structure.parse("layers=6 neurons=48 shortcuts=1-2,0-1").shortcuts
        ((0, 1), (1, 2))
    """

    layers: int
    neurons: int
    shortcuts: tuple[Shortcut, ...] = ()

    def __post_init__(self) -> None:
        """Sort the shortcuts, and refuse impossible ones."""
        for name in ("layers", "neurons"):
            object.__setattr__(self, name, _whole(name, getattr(self, name)))
        if self.layers < 2:
            raise GenomeError(
                f"a network has at least 2 layers, one hidden and the output, not {self.layers}."
            )
        if self.neurons < 1:
            raise GenomeError(f"a hidden layer has at least 1 neuron, not {self.neurons}.")
        if flaw := _too_large(self.layers, self.neurons):
            raise GenomeError(f"{flaw[1]}.")
        ordered = tuple(sorted(_pair(each) for each in self.shortcuts))
        object.__setattr__(self, "shortcuts", ordered)
        if flaw := shortcut_flaw(self.layers, ordered):
            raise GenomeError(f"{flaw[1]}.")

    @property
    def text(self) -> str:
        """The text form; `Structure.parse` reads it back."""
        shortcuts = ",".join(f"{start}-{end}" for start, end in self.shortcuts) or "none"
        return f"layers={self.layers} neurons={self.neurons} shortcuts={shortcuts}"

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> "Structure":
        """Read a structure from a text such as `layers=6 neurons=48 shortcuts=0-1,1-2`.

        Without shortcuts: `shortcuts=none`, or nothing. Brackets, as in `[0-1,1-2]`, are allowed.

        Raises:
            GenomeSyntaxError: The text cannot be read; the error says where and why.
        """
        return structure_from_fields(split_fields(text, STRUCTURE_FIELDS, STRUCTURE_FIELDS[:2]))


def _too_large(layers: int, neurons: int) -> tuple[str, str] | None:
    """The name of the number that exceeds its limit, if one does, and a message."""
    if layers > MAX_LAYERS:
        return "layers", f"a network has at most {MAX_LAYERS:,} layers, not {shown(layers)}"
    if neurons > MAX_NEURONS:
        return "neurons", f"a hidden layer has at most {MAX_NEURONS:,} neurons, not {shown(neurons)}"
    return None


def _whole(name: str, value: object) -> int:
    """A whole number, which text is not."""
    number = whole_number(value)
    if number is None:
        raise GenomeError(f"{name} is {shown(value)}; it must be a whole number.")
    return number


def _pair(pair: object) -> Shortcut:
    """A shortcut: two whole numbers."""
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(cast("Sequence[object]", pair)) != 2:
        raise GenomeError(
            f"a shortcut is {shown(cast(object, pair))}; it must be a pair of layers, such as (0, 1)."
        )
    start, end = cast("Sequence[object]", pair)
    return _whole("the start of a shortcut", start), _whole("the end of a shortcut", end)


def shortcut_flaw(layers: int, shortcuts: Sequence[Shortcut]) -> tuple[int, str] | None:
    """The index of the first impossible shortcut, in increasing order, and the reason, if there is one."""
    reach = 0
    for index, (start, end) in enumerate(shortcuts):
        if start < 0:
            return index, f"shortcut {start}-{end} starts before layer 0"
        if start >= end:
            return index, f"shortcut {start}-{end} must lead to a later layer"
        if end > layers - 1:
            return index, (
                f"shortcut {start}-{end} contains the last layer; it can end at {layers - 1} at most"
            )
        if start < reach:
            before = "-".join(map(str, shortcuts[index - 1]))
            return index, f"shortcut {start}-{end} intersects {before}; a layer lies in at most one shortcut"
        reach = end
    return None


def regular_shortcuts(layers: int, span: int) -> tuple[Shortcut, ...]:
    """Consecutive shortcuts that span this many layers each, the last cut to fit; none for span 0.

    Examples:
        >>> regular_shortcuts(8, 2)
        ((0, 2), (2, 4), (4, 6), (6, 7))
    """
    if span < 0:
        raise GenomeError(f"a shortcut spans 1 layer or more (0: no shortcuts), not {span}.")
    if span == 0:
        return ()
    last = layers - 1
    return tuple((start, min(start + span, last)) for start in range(0, last, span))


def structure_from_fields(fields: Mapping[str, TextField]) -> Structure:
    """The structure from the fields of a text; errors give the position in it."""
    layers, neurons = fields["layers"].integer(), fields["neurons"].integer()
    if layers < 2:
        raise fields["layers"].error(
            f"a network has at least 2 layers, one hidden and the output, not {layers}"
        )
    if neurons < 1:
        raise fields["neurons"].error("a hidden layer has at least 1 neuron")
    if flaw := _too_large(layers, neurons):
        raise fields[flaw[0]].error(flaw[1])
    items = fields["shortcuts"].items() if "shortcuts" in fields else ()
    placed = sorted(((_shortcut(item), item) for item in items), key=lambda pair: pair[0])
    shortcuts = tuple(shortcut for shortcut, _ in placed)
    if flaw := shortcut_flaw(layers, shortcuts):
        index, reason = flaw
        raise placed[index][1].error(reason)
    return Structure(layers, neurons, shortcuts)


def _shortcut(item: TextField) -> Shortcut:
    match = re.fullmatch(rf"({WHOLE})\s*-\s*({WHOLE})", item.value, re.ASCII)
    if match is None:
        raise item.error(f"a shortcut is written from-to, as in 0-2, not {item.value!r}")
    return int(match[1]), int(match[2])
