"""What the trainings of a study came to."""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evopinn.run.listed import Entry
from evopinn.run.reading import Reader
from evopinn.training.whole import write_whole

_PAGE = 500
COLUMNS = ("model", "case", "genome", "seed", "status", "epochs", "seconds", "loss", "error")


@dataclass(frozen=True)
class Trial:
    """One training of a model.

    Attributes:
        model: What the model is called in the study.
        case: The problem that it was trained on, by its full name.
        run: Directory of the run that it belongs to.
        entry: How it came out.
    """

    model: str
    case: str
    run: Path
    entry: Entry

    def error(self, field: str) -> float:
        """The error of a field; not a number if it is not known."""
        return self.entry.errors.get(field, math.nan)


@dataclass(frozen=True)
class Spread:
    """Numbers as their mean and deviation.

    Attributes:
        mean: Of those that are finite; not a number if none is.
        deviation: Their standard deviation, with n - 1 in its denominator; 0 for a single one.
        count: How many are finite.
        failed: How many are not.
    """

    mean: float
    deviation: float
    count: int
    failed: int

    @classmethod
    def of(cls, values: Iterable[float]) -> "Spread":
        """Of some numbers."""
        array = np.array(list(values), dtype=float)
        sound = array[np.isfinite(array)]
        if not len(sound):
            return cls(math.nan, math.nan, 0, len(array))
        deviation = float(sound.std(ddof=1)) if len(sound) > 1 else 0.0
        return cls(float(sound.mean()), deviation, len(sound), len(array) - len(sound))


def settled_entries(run: Path) -> Iterator[Entry]:
    """The evaluations that settle the tasks of a run, in order."""
    with Reader(run) as reader:
        after = -1
        while page := reader.page(after, _PAGE):
            yield from (entry for entry in page if entry.final)
            after = page[-1].task


def trials_of(run: Path, case: str, models: Mapping[str, str]) -> list[Trial]:
    """The trainings of a run, under the names that the study has for its genomes.

    Args:
        run: A run of trainings.
        case: The problem's full name.
        models: Genomes by name; several names may mean the same.
    """
    names: dict[str, list[str]] = {}
    for name, genome in models.items():
        names.setdefault(genome, []).append(name)
    entries = list(settled_entries(run))
    return [Trial(name, case, run, entry) for entry in entries for name in names.get(entry.genome, ())]


def fields_of(trials: Sequence[Trial]) -> tuple[str, ...]:
    """The fields whose errors are known, in order."""
    return tuple(dict.fromkeys(field for trial in trials for field in trial.entry.errors))


def spread_of(trials: Iterable[Trial], model: str, case: str, field: str) -> Spread:
    """The errors of a model's field on a case."""
    return Spread.of(each.error(field) for each in trials if (each.model, each.case) == (model, case))


def write_csv(path: Path, trials: Sequence[Trial]) -> None:
    """All trainings as a table, whole or not at all: a row each, the fields' errors in the last columns."""
    fields = fields_of(trials)

    def write(place: Path) -> None:
        with place.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*COLUMNS[:-1], *(f"{COLUMNS[-1]}_{field}" for field in fields)])
            writer.writerows(_row(trial, fields) for trial in trials)

    write_whole(path, write)


def _row(trial: Trial, fields: Sequence[str]) -> list[object]:
    entry = trial.entry
    errors = [f"{trial.error(field):.6e}" for field in fields]
    return [
        trial.model,
        trial.case,
        entry.genome,
        entry.seed,
        entry.status,
        entry.epochs,
        f"{entry.seconds:.2f}",
        f"{entry.loss:.6e}",
        *errors,
    ]
