"""The models that the searches of a comparison discovered."""

from dataclasses import dataclass
from pathlib import Path

from evopinn.errors import RunError
from evopinn.lab.studies.labels import published_method
from evopinn.lab.studies.trials import settled_entries
from evopinn.run.record import find_best
from evopinn.search.means import Mean
from evopinn.store.reader import Reader


@dataclass(frozen=True)
class Discovery:
    """The winner of one search.

    Attributes:
        method: Name of the method.
        search: Number of the search, from 1.
        seed: Seed of the search.
        genome: The winner.
        mean: The mean that decided.
        mean_loss: Mean loss of its final evaluations.
        mean_error: Mean error of the same, where a solution is known.
        epochs: Epochs planned for the whole search.
        spent: Epochs that its trainings took: fewer, as some fail and others end early.
        trainings: Number of trainings.
        seconds: Time of all workers together.
        run: The search's directory.
        warning: A warning if the network overfits its training points; empty if it does not.
    """

    method: str
    search: int
    seed: int
    genome: str
    mean: Mean
    mean_loss: float
    mean_error: float | None
    epochs: int
    spent: int
    trainings: int
    seconds: float
    run: Path
    warning: str = ""

    @property
    def model(self) -> str:
        """The name of the discovered model, in the style of the published ones: `evo-dpste-1`."""
        return f"{self.method}-{self.search}"

    @property
    def published_name(self) -> str:
        """The name of its counterpart among the published models."""
        return f"{published_method(self.method)}-{self.search}"


def search_place(method: str, search: int) -> str:
    """The directory of a search, below that of the study."""
    return f"searches/{method}-{search}"


def discovery(directory: Path, method: str, search: int, seed: int, epochs: int) -> Discovery:
    """The winner of a search that has finished.

    Args:
        directory: The study's directory.
        method: Name of the method.
        search: Number of the search.
        seed: Seed of the search.
        epochs: Epochs planned for it.
    """
    run = directory / search_place(method, search)
    with Reader(run) as reader:
        finalists = reader.finalists(1)
        if not finalists:
            raise RunError(f"the search {run} found no network: all of its trainings failed.")
        generations = reader.generations()
        best = find_best(reader)
    winner = finalists[0]
    return Discovery(
        method,
        search,
        seed,
        winner.genome,
        winner.mean,
        winner.mean_loss,
        winner.mean_error,
        epochs,
        sum(entry.epochs for entry in settled_entries(run)),
        sum(each.settled for each in generations),
        sum(each.seconds for each in generations),
        run,
        best.warning if best else "",
    )


def best_losses(run: Path) -> list[tuple[float, float]]:
    """The best losses of a search, each with the epochs that all trainings had taken by then."""
    spent, best = 0.0, float("inf")
    falls: list[tuple[float, float]] = []
    for entry in settled_entries(run):
        spent += entry.epochs
        if entry.loss < best:
            best = entry.loss
            falls.append((spent, best))
    return falls
