"""Rows of a run's database: the conversion of tasks, errors and histories, and checks of what is read.

Values are checked because SQLite allows any value in any column.
"""

import json
import math
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any, cast

from evopinn.checks import shown
from evopinn.genome import Genome
from evopinn.search.task import Origin, Task
from evopinn.training import History

Row = tuple[Any, ...]
Check = Callable[[object], bool]

TASK_COLUMNS = (
    "number",
    "generation",
    "genome",
    "key",
    "epochs",
    "seed",
    "operations",
    "parents",
    "continues",
    "coarseness",
)
_MOST_BYTES = 2**28
"""The maximum size of a history, a hundred times the longest: a few bytes can be crafted to unpack to a disk
full."""

_LATEST = 253_402_300_800.0  # the year 10000, where calendars end


def text(value: object) -> bool:
    """Text."""
    return isinstance(value, str)


def blob(value: object) -> bool:
    """Bytes."""
    return isinstance(value, bytes)


def whole_number(value: object) -> bool:
    """A whole number."""
    return isinstance(value, int)


def whole_number_or_null(value: object) -> bool:
    """A whole number or NULL."""
    return value is None or isinstance(value, int)


def number(value: object) -> bool:
    """A finite number."""
    return isinstance(value, int | float) and math.isfinite(value)


def loss(value: object) -> bool:
    """A number, which may be infinite; NULL stands for not-a-number."""
    return value is None or isinstance(value, int | float)


def moment(value: object) -> bool:
    """Seconds since 1970."""
    return isinstance(value, int | float) and 0 <= value < _LATEST


def checked_row(row: Row, *kinds: Check) -> Row:
    """The row, whose values must be of these kinds.

    Raises:
        TypeError: A value is of another kind.
    """
    for value, kind in zip(row, kinds, strict=True):
        if not kind(value):
            raise TypeError(f"{shown(value)} is not a {kind.__name__.replace('_', ' ')}")
    return row


def checked_list(stored: str, kind: Check) -> tuple[Any, ...]:
    """The values of a JSON list, which must all be of one kind."""
    values: object = json.loads(stored)
    if not isinstance(values, list):
        raise TypeError(f"{shown(values)} is not a list")
    row = tuple(cast("list[Any]", values))
    return checked_row(row, *(kind for _ in row))


def task_row(task: Task) -> Row:
    """A task as a row of `TASK_COLUMNS`."""
    return (
        task.number,
        task.generation,
        task.genome.text,
        task.genome.key,
        task.epochs,
        str(task.seed),
        json.dumps(task.origin.operations),
        json.dumps(task.origin.parents),
        task.continues,
        task.coarseness,
    )


def task_of(row: Row) -> Task:
    """The task of a row of `TASK_COLUMNS`."""
    kinds = (
        whole_number,
        whole_number,
        text,
        text,
        whole_number,
        text,
        text,
        text,
        whole_number_or_null,
        number,
    )
    place, generation, genome, _, epochs, seed, operations, parents, continues, coarseness = checked_row(
        row, *kinds
    )
    origin = Origin(checked_list(operations, text), checked_list(parents, whole_number))
    return Task(
        place, generation, Genome.parse(genome), epochs, int(seed), origin, continues, float(coarseness)
    )


def loss_of(value: float | None) -> float:
    """A loss as it was recorded: SQLite keeps NULL in the place of not-a-number."""
    return math.nan if value is None else float(value)


def errors_text(errors: Mapping[str, float]) -> str:
    """Errors as JSON, with `nan` and `inf`, for which it has no numbers, as text that `float` reads."""
    return json.dumps({name: e if math.isfinite(e) else str(e) for name, e in errors.items()})


def errors_of(text: str) -> dict[str, float]:
    """The errors that `errors_text` wrote."""
    found: object = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"errors are {shown(found)}")
    return {name: float(value) for name, value in cast("dict[str, Any]", found).items()}


def history_row(history: History) -> Row:
    """A history as the number of its losses, what else there is, and all its numbers in one blob.

    The blob holds the losses, the epochs of the errors, the errors field by field, and the epochs of the
    losses if they are not the numbers of the steps, as compressed binary64. The description is a JSON
    list of the fields or, with epochs, `{"errors": names, "epochs": true}`.
    """
    names = list(history.errors)
    series = [value for each in history.errors.values() for value in each]
    numbers = [*history.losses, *history.error_epochs, *series]
    apart = list(history.epochs) != list(range(len(history.losses)))
    if apart:
        numbers += history.epochs
    # The mantissas of losses hardly compress, so the fast level does as well.
    blob = zlib.compress(struct.pack(f"<{len(numbers)}d", *numbers), level=1)
    return len(history.losses), json.dumps({"errors": names, "epochs": True} if apart else names), blob


def history_of(row: Row) -> History:
    """The history that `history_row` wrote, to the last bit."""
    count, stored, packed = checked_row(row, whole_number, text, blob)
    described: dict[str, Any] | list[str] = json.loads(stored)
    apart = isinstance(described, dict)
    names: list[str] = described["errors"] if apart else described
    reader = zlib.decompressobj()
    plain = reader.decompress(packed, _MOST_BYTES)
    if reader.unconsumed_tail or not reader.eof:
        raise ValueError("a history is cut off or too long")
    numbers: tuple[float, ...] = struct.unpack(f"<{len(plain) // 8}d", plain)
    numbers, epochs = (numbers[:-count], numbers[-count:]) if apart else (numbers, ())
    measured = (len(numbers) - count) // (1 + len(names))
    starts = [count + index * measured for index in range(1 + len(names))]
    error_epochs, *errors = (numbers[start : start + measured] for start in starts)
    return History(
        numbers[:count],
        tuple(int(epoch) for epoch in error_epochs),
        dict(zip(names, errors, strict=True)),
        epochs,
    )
