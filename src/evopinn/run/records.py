"""What a run remembers of each evaluation, and how it is written into a row.

Genomes and histories are imported where they are made: listing a run must not wait for torch.
"""

import json
import math
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from evopinn.checks import shown
from evopinn.run.rows import Row, blob, fit, listed, number, text, whole, whole_or_none

if TYPE_CHECKING:
    from evopinn.searchers.task import Task
    from evopinn.training import History

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
"""Of a course: a hundred times the longest; a few bytes can be made to stand for a disk full."""


@dataclass(frozen=True)
class Evaluation:
    """One attempt at a task, over.

    Attributes:
        task: The task's number.
        status: How it ended: that of the training, or what kept it from ending.
        loss: The least training loss; infinite if it failed.
        started: When it began, in seconds since 1970.
        ended: When it was over.
        errors: The relative L2 error of each field, where a solution is known.
        epochs: How many epochs were trained.
        seconds: How long it took.
        worker: Serial number of the worker.
        note: What a person should know, such as "cut by wall clock" or why it failed.
        history: The course of the training.
        final: Whether this settles the task; not so if it will be tried again.
    """

    task: int
    status: str
    loss: float
    started: float
    ended: float
    errors: Mapping[str, float] = field(default_factory=dict[str, float])
    epochs: int = 0
    seconds: float = 0.0
    worker: int | None = None
    note: str = ""
    history: "History | None" = None
    final: bool = True


def task_row(task: "Task") -> Row:
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


def task_of(row: Row) -> "Task":
    """The task of a row of `TASK_COLUMNS`."""
    from evopinn.genome import Genome
    from evopinn.searchers.task import Origin, Task

    kinds = (whole, whole, text, text, whole, text, text, text, whole_or_none, number)
    place, generation, genome, _, epochs, seed, operations, parents, continues, coarseness = fit(row, *kinds)
    origin = Origin(listed(operations, text), listed(parents, whole))
    return Task(
        place, generation, Genome.parse(genome), epochs, int(seed), origin, continues, float(coarseness)
    )


def loss_of(value: float | None) -> float:
    """A loss as it was recorded: SQLite has no not-a-number and keeps nothing in its place."""
    return math.nan if value is None else float(value)


def errors_text(errors: Mapping[str, float]) -> str:
    """Errors as JSON; what it has no number for (`nan`, `inf`) as text that `float` reads."""
    return json.dumps({name: e if math.isfinite(e) else str(e) for name, e in errors.items()})


def errors_of(text: str) -> dict[str, float]:
    """The errors that `errors_text` wrote."""
    found: object = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"errors are {shown(found)}")
    return {name: float(value) for name, value in cast("dict[str, Any]", found).items()}


def history_row(history: "History") -> Row:
    """A history as the number of its losses, what else there is, and all its numbers in one blob.

    The blob has the losses, the epochs of the errors, the errors, field by field, and the epochs of the
    losses if they are not the numbers of the steps: compressed binary64. What else there is are the names of
    the fields or, with epochs, `{"errors": names, "epochs": true}`.
    """
    names = list(history.errors)
    series = [value for each in history.errors.values() for value in each]
    numbers = [*history.losses, *history.error_epochs, *series]
    apart = list(history.epochs) != list(range(len(history.losses)))
    if apart:
        numbers += history.epochs
    # The mantissas of a course of losses hardly compress; the fast level finds what there is.
    blob = zlib.compress(struct.pack(f"<{len(numbers)}d", *numbers), level=1)
    return len(history.losses), json.dumps({"errors": names, "epochs": True} if apart else names), blob


def history_of(row: Row) -> "History":
    """The history of such a row, to the last bit."""
    from evopinn.training import History

    count, stored, packed = fit(row, whole, text, blob)
    described: dict[str, Any] | list[str] = json.loads(stored)
    apart = isinstance(described, dict)
    names: list[str] = described["errors"] if apart else described
    reader = zlib.decompressobj()
    plain = reader.decompress(packed, _MOST_BYTES)
    if reader.unconsumed_tail or not reader.eof:
        raise ValueError("a course is cut off, or longer than any")
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
