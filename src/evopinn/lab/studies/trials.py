"""The trainings of a study and their results."""

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evopinn.atomic_write import atomic_write
from evopinn.store.reader import Reader
from evopinn.store.records import Entry

_PAGE = 500
COLUMNS = ("model", "case", "genome", "seed", "status", "epochs", "seconds", "loss", "error")


@dataclass(frozen=True)
class Trial:
    """One training of a model.

    Attributes:
        model: The model's name in the study.
        case: The full name of the problem that it was trained on.
        run: The directory of the run that it belongs to.
        entry: Its result.
    """

    model: str
    case: str
    run: Path
    entry: Entry

    def error(self, field: str) -> float:
        """The error of a field; NaN if it is not known."""
        return self.entry.errors.get(field, math.nan)


@dataclass(frozen=True)
class Sample:
    """Mean and deviation of some numbers.

    Attributes:
        mean: The mean of those that are finite; NaN if none is.
        deviation: Their standard deviation, with n - 1 in its denominator; 0 for a single one.
        count: How many are finite.
        failed: How many are not.
    """

    mean: float
    deviation: float
    count: int
    failed: int

    @classmethod
    def of(cls, values: Iterable[float]) -> "Sample":
        """The sample of some numbers."""
        array = np.array(list(values), dtype=float)
        sound = array[np.isfinite(array)]
        if not len(sound):
            return cls(math.nan, math.nan, 0, len(array))
        deviation = float(sound.std(ddof=1)) if len(sound) > 1 else 0.0
        return cls(float(sound.mean()), deviation, len(sound), len(array) - len(sound))


@dataclass(frozen=True)
class Quantity:
    """A quantity by which trainings are judged.

    Attributes:
        name: The field whose error it is; or `loss`.
        of: Its value in a training.
    """

    name: str
    of: Callable[[Trial], float]

    def sample(self, trials: Iterable[Trial]) -> Sample:
        """Its values in some trainings."""
        return Sample.of(map(self.of, trials))


def settled_entries(run: Path) -> Iterator[Entry]:
    """The evaluations that settle the tasks of a run, in order."""
    with Reader(run) as reader:
        after = -1
        while page := reader.page(after, _PAGE):
            yield from (entry for entry in page if entry.final)
            after = page[-1].task


def trials_of(run: Path, case: str, models: Mapping[str, str]) -> list[Trial]:
    """The trainings of a run, named as the study names their genomes.

    Args:
        run: A run of trainings.
        case: The problem's full name.
        models: Genomes by name; several names may stand for the same one.
    """
    names: dict[str, list[str]] = {}
    for name, genome in models.items():
        names.setdefault(genome, []).append(name)
    entries = list(settled_entries(run))
    return [Trial(name, case, run, entry) for entry in entries for name in names.get(entry.genome, ())]


def fields_of(trials: Sequence[Trial]) -> tuple[str, ...]:
    """The fields whose errors are known, in order."""
    return tuple(dict.fromkeys(field for trial in trials for field in trial.entry.errors))


def quantities(trials: Sequence[Trial]) -> list[Quantity]:
    """The errors of all fields; the loss where no solution is known."""
    errors = [Quantity(field, lambda trial, field=field: trial.error(field)) for field in fields_of(trials)]
    return errors or [Quantity("loss", lambda trial: trial.entry.loss)]


def errors_of(trials: Iterable[Trial], model: str, case: str, field: str) -> Sample:
    """The errors of a model's field on a case."""
    return Sample.of(each.error(field) for each in trials if (each.model, each.case) == (model, case))


def write_csv(path: Path, trials: Sequence[Trial]) -> None:
    """Write a row for each training; the last columns are the fields' errors."""
    fields = fields_of(trials)

    def write(place: Path) -> None:
        with place.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*COLUMNS[:-1], *(f"{COLUMNS[-1]}_{field}" for field in fields)])
            writer.writerows(_row(trial, fields) for trial in trials)

    atomic_write(path, write)


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
