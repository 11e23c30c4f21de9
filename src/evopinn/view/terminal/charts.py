"""Small charts for a terminal: numbers as lines of text, within a given width.

Numbers that are not finite are left blank. Losses are on a logarithmic scale; those that are not positive
stand at the bottom.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evopinn.view.numbers import scientific
from evopinn.view.terminal.glyphs import BLOCKS, Glyphs

LEAST_WIDTH, MOST_WIDTH = 40, 200
"""In narrower terminals there is no room for a chart; in wider ones it gains nothing."""

_DECADES = 16.0
"""Shown at most: what blew up must not flatten the rest. It stands at the upper edge."""

_WIDEST_GROUP = 7
_AXIS = len(scientific(1.0)) + 2  # a label, a space, the axis


def sparkline(values: Sequence[float], width: int, glyphs: Glyphs = BLOCKS) -> str:
    """Positive values in one line, a character each; of more than there is room for, the last of each few.

    Examples:
        >>> sparkline([1e2, 1e1, float("nan"), 1e-2, 1e-5], 10)
        '█▇ ▄▁'
    """
    columns = min(len(values), width)
    shown = [values[(column + 1) * len(values) // columns - 1] for column in range(columns)]
    scale = _LogScale.over(shown)
    if scale is None:
        return " " * len(shown)
    steps = len(glyphs.levels)
    return "".join(
        glyphs.levels[scale.step(value, steps)] if math.isfinite(value) else " " for value in shown
    )


def bar(value: float, largest: float, width: int, glyphs: Glyphs = BLOCKS) -> str:
    """A bar as long as the value's share of the largest; what is not zero has at least a sliver.

    Examples:
        >>> bar(3, 8, 4)
        '█▌'
    """
    if not (math.isfinite(value) and value > 0 and width > 0):
        return ""
    share = min(value / largest, 1.0)
    parts = len(glyphs.fractions)
    full, rest = divmod(max(round(share * width * parts), 1), parts)
    return glyphs.fractions[-1] * full + (glyphs.fractions[rest - 1] if rest else "")


def bars(rows: Sequence[tuple[str, int]], width: int, glyphs: Glyphs = BLOCKS) -> list[str]:
    """Named counts, one a line: name, bar, count."""
    if not rows:
        return []
    names = _cut([name for name, _ in rows], width // 2)
    counts = [f"{count:,}" for _, count in rows]
    room = width - len(names[0]) - max(map(len, counts)) - 2
    largest = max(count for _, count in rows)
    return [
        _joined(name, bar(count, largest, room, glyphs), text)
        for name, text, (_, count) in zip(names, counts, rows, strict=True)
    ]


@dataclass(frozen=True)
class Stair:
    """A step of a schedule.

    Attributes:
        name: Of the round.
        networks: How many it has.
        epochs: Of each.
        again: How many of them are elitists that are trained again.
        done: How many are trained; by default all.
    """

    name: str
    networks: int
    epochs: int
    again: int = 0
    done: int | None = None

    @property
    def reached(self) -> float:
        """The share of it that is trained."""
        return 1.0 if self.done is None or self.done >= self.networks else self.done / self.networks

    @property
    def count(self) -> str:
        """The networks in figures: `10`, with elitists `8+2`, on the way `3 of 8+2`."""
        text = f"{self.networks - self.again:,}+{self.again:,}" if self.again else f"{self.networks:,}"
        return f"{self.done:,} of {text}" if self.done and self.reached < 1 else text


def staircase(stairs: Sequence[Stair], width: int, glyphs: Glyphs = BLOCKS) -> list[str]:
    """A line for each step, below a heading: its networks, and the epochs of each, as bars.

    What is not trained yet is drawn in the character for plans.
    """
    if not stairs:
        return []
    names = _cut(["", *(stair.name for stair in stairs)], width // 4)
    half = (width - len(names[0]) - 3) // 2
    title = "new + elitists" if any(stair.again for stair in stairs) else "networks"
    reached = [stair.reached for stair in stairs]
    networks = [(stair.networks, stair.count) for stair in stairs]
    epochs = [(stair.epochs, f"{stair.epochs:,}") for stair in stairs]
    columns = [
        _column(title, networks, reached, half, glyphs),
        _column("epochs of each", epochs, [float(share > 0) for share in reached], half, glyphs),
    ]
    lines = [
        f"{name} {left.ljust(half)}  {right}".rstrip()
        for name, left, right in zip(names, *columns, strict=True)
    ]
    legend = f"{' ' * len(names[0])} {glyphs.planned} not trained yet"
    return [*lines, legend[:width]] if min(reached) < 1 else lines


def spread(
    groups: Sequence[Sequence[float]],
    names: Sequence[str],
    width: int,
    height: int,
    glyphs: Glyphs = BLOCKS,
    *,
    running: bool = False,
) -> list[str]:
    """Groups of positive values side by side: the least, the median and the quartiles of each.

    Of more groups than there is room for, neighbours are put together under the name of the first.

    Args:
        groups: The values; what is not finite is left out.
        names: Of the groups, to stand below.
        width: Of all, in columns.
        height: Of the plot, in lines; the axis, the names and the legend come below it.
        glyphs: What to draw with.
        running: Show only the least value so far, for groups too small to have quartiles.
    """
    room = width - _AXIS
    together = -(-len(groups) // room) if groups else 1
    parts = [
        [value for group in groups[k : k + together] for value in group if math.isfinite(value)]
        for k in range(0, len(groups), together)
    ]
    boxes = [_Quartiles.of(part) for part in parts]
    if running:
        boxes = _least_so_far(boxes)
    scale = _LogScale.over([value for box in boxes if box for value in (box.least, box.high)])
    if scale is None:
        return []
    across = max(1, min(room // len(boxes), _WIDEST_GROUP))
    columns = [_drawn(box, scale, across, height, glyphs, running) for box in boxes]
    rows = ["".join(column[line] for column in columns).rstrip() for line in range(height)]
    labels = scale.labels(height)
    plot = [f"{label} {glyphs.upright}{row}" for label, row in zip(labels, rows, strict=True)]
    axis = " " * (_AXIS - 1) + glyphs.corner + glyphs.across * (across * len(boxes))
    below = " " * _AXIS + _below(names[::together], across, across * len(boxes))
    legend = {glyphs.best: "best so far" if running else "best"}
    if not running:
        legend |= {glyphs.median: "median", glyphs.quartiles: "quartiles"}
    told = "  ".join(f"{mark} {meaning}" for mark, meaning in legend.items())
    return [*plot, axis, below.rstrip(), " " * _AXIS + told[:room]]


@dataclass(frozen=True)
class _LogScale:
    """From the lowest to the highest value, by decades."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float]) -> "_LogScale | None":
        """A scale for these values; None if none of them is finite. If none is positive, all are one."""
        finite = [value for value in values if math.isfinite(value)]
        if not finite:
            return None
        logs = [math.log10(value) for value in finite if value > 0] or [0.0]
        return cls(min(logs), min(max(logs), min(logs) + _DECADES))

    def step(self, value: float, steps: int) -> int:
        """Which of so many equal steps a value is on, from 0; the middle one if the scale has no length."""
        if self.high - self.low < 1e-9:
            return (steps - 1) // 2
        log = math.log10(value) if value > 0 else self.low
        share = (log - self.low) / (self.high - self.low)
        # The ends of the scale are the middles of the outer steps, so that their labels are the extremes.
        return max(0, min(int(share * (steps - 1) + 0.5), steps - 1))

    def labels(self, height: int) -> list[str]:
        """What stands beside the lines of a plot, the uppermost first: a few of them say their value."""
        blank = " " * len(scientific(1.0))
        if self.high - self.low < 1e-9:
            return [
                _label(self.low) if line == height - 1 - (height - 1) // 2 else blank
                for line in range(height)
            ]
        named = {0, height - 1, *range(0, height - 2, 3)}
        step = (self.high - self.low) / (height - 1)
        middles = [self.high - line * step for line in range(height)]
        return [_label(middle) if line in named else blank for line, middle in enumerate(middles)]


def _label(log: float) -> str:
    """A power of ten; one with an exponent of three digits has one less before it."""
    text = scientific(10.0 ** max(min(log, 308.0), -307.0))
    width = len(scientific(1.0))
    return text if len(text) <= width else f"{text[:3]}{text[4:]}"[:width]


@dataclass(frozen=True)
class _Quartiles:
    least: float
    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "_Quartiles | None":
        ordered = sorted(values)
        if not ordered:
            return None
        return cls(ordered[0], *(_quantile(ordered, share) for share in (0.25, 0.5, 0.75)))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Between neighbours, in proportion."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    weight = place - below
    return (1 - weight) * ordered[below] + weight * ordered[above]


def _least_so_far(boxes: Sequence["_Quartiles | None"]) -> list["_Quartiles | None"]:
    least = math.inf
    so_far: list[_Quartiles | None] = []
    for box in boxes:
        least = min(least, box.least) if box else least
        so_far.append(_Quartiles(least, least, least, least) if math.isfinite(least) else None)
    return so_far


def _drawn(
    box: "_Quartiles | None", scale: _LogScale, across: int, height: int, glyphs: Glyphs, running: bool
) -> list[str]:
    """A group as lines, the uppermost first, each so many columns wide."""
    if box is None:
        return [" " * across] * height
    best, low, middle, high = (
        scale.step(value, height) for value in (box.least, box.low, box.middle, box.high)
    )
    inked = _inked(across)
    lines: list[str] = []
    for line in range(height - 1, -1, -1):
        fill = " "
        if not running and low <= line <= high:
            fill = glyphs.median if line == middle else glyphs.quartiles
        text = fill * inked
        if line == best:
            centre = (inked - 1) // 2
            text = text[:centre] + glyphs.best + text[centre + 1 :]
        lines.append(text.ljust(across))
    return lines


def _inked(across: int) -> int:
    """Columns of a group that are drawn on: a wide one leaves a gap."""
    return across - 1 if across > 2 else across


def _below(names: Sequence[str], across: int, room: int) -> str:
    """Names below the middles of their groups, as many as do not touch."""
    line = ""
    for number, name in enumerate(names):
        start = max(number * across + (_inked(across) - len(name)) // 2, 0)
        if start + len(name) <= room and (not line or start > len(line)):
            line = line.ljust(start) + name
    return line


def _column(
    title: str,
    values: Sequence[tuple[int, str]],
    reached: Sequence[float],
    width: int,
    glyphs: Glyphs,
) -> list[str]:
    """A heading, and a bar for each value with its text; of each, what is not reached is only planned."""
    room = width - max(len(text) for _, text in values) - 1
    largest = max(value for value, _ in values)
    cells = [title[:width]]
    for (value, text), share in zip(values, reached, strict=True):
        whole = bar(value, largest, room, glyphs)
        done = bar(share * value, largest, room, glyphs)
        drawn = whole if share >= 1 else done + glyphs.planned * (len(whole) - len(done))
        cells.append(_joined(drawn, text[:width]))
    return cells


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _cut(names: Sequence[str], most: int) -> list[str]:
    """Names of one length, the longest's or at most so many columns."""
    length = min(max(map(len, names)), most)
    return [name[:length].rjust(length) for name in names]
