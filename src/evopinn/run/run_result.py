"""The result of a search, read from its run on use: while it runs, when it has finished, or after a kill."""

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evopinn import training
from evopinn.errors import RunError, StoredModelError
from evopinn.run.architecture import Architecture
from evopinn.run.export import Row, evaluation_rows
from evopinn.run.goal import Goal
from evopinn.run.record import BestNetwork, RunRecord, find_best
from evopinn.run.wording import why_no_network
from evopinn.store.kept_networks import kept_weights
from evopinn.store.reader import Reader
from evopinn.store.records import Entry, FinalistEntry, RunState
from evopinn.store.weights import load_weights
from evopinn.training import History


class RunResult:
    """The result of a search. Everything is read on use, so the run may still be running.

    Args:
        directory: The run's.

    Attributes:
        directory: The run's.
        problem: The problem's name.
        method: The search method's name.
        seed: The seed of all random choices.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        with Reader(self.directory) as reader:
            goal = Goal.of(reader.about().config, self.directory)
        self.problem, self.method, self.seed = goal.problem, goal.method, goal.seed

    @property
    def record(self) -> RunRecord:
        """The run as it is now."""
        return RunRecord.read(self.directory)

    @property
    def state(self) -> RunState:
        """`running`, `finished`, or `stopped` (by request or by a kill), which can be resumed."""
        with Reader(self.directory) as reader:
            return reader.state()

    @property
    def best(self) -> "training.TrainingResult":
        """The most accurate network: the one of the recommended architecture with the least loss.

        The recommended architecture is the genome with the best mean over its final evaluations. Kept are the
        networks of these evaluations and, if the genome is in the hall of fame, the best of its earlier ones.
        Before there is a recommended architecture, this is the first network of the hall of fame.
        """
        while True:
            task = self._best().entry.task
            try:
                return load_weights(self.directory, task)
            except StoredModelError:
                # A better one may have taken its place since: a running search removes what it surpasses.
                if self._best().entry.task == task:
                    raise

    @property
    def hall_of_fame(self) -> Sequence[Entry]:
        """The best evaluation of each of the ten best genomes, best first."""
        with Reader(self.directory) as reader:
            return reader.hall_of_fame()

    @property
    def finalists(self) -> Sequence[FinalistEntry]:
        """The final evaluations by genome, best mean first; empty before there are any."""
        with Reader(self.directory) as reader:
            return reader.finalists()

    def evaluations(self) -> Iterator[Row]:
        """All evaluations, a flat dictionary for each attempt: `pandas.DataFrame(result.evaluations())`."""
        return evaluation_rows(self.directory)

    def to_pandas(self) -> Any:
        """All evaluations as a `pandas.DataFrame`, one row an attempt; the columns are those of `export`.

        Raises:
            RunError: pandas is not installed.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            raise RunError(
                "pandas is not installed: `pip install pandas`; `evaluations()` gives the same without it."
            ) from None
        return pandas.DataFrame(self.evaluations())

    def history(self, task: int) -> History | None:
        """The history of a task's training: losses by epoch, and errors where they were measured.

        Args:
            task: Its number, as in `hall_of_fame` and `evaluations()`.

        Returns:
            The history of the attempt that settled the task; None if there is none, for example if it failed.
        """
        with Reader(self.directory) as reader:
            return reader.history(task)

    def weights(self, task: int) -> "training.TrainingResult":
        """The trained network of a task; those of the hall of fame and of the final evaluations are kept.

        Args:
            task: Its number, as in `hall_of_fame` and in `finalists`.

        Raises:
            RunError: It was not kept; the message lists those that were.
        """
        kept = kept_weights(self.directory)
        if task not in kept:
            others = ", ".join(map(str, sorted(kept))) or "none"
            raise RunError(
                f"the run {self.directory} has not kept task {task}'s network; kept are: {others}."
            )
        return load_weights(self.directory, task)

    def summary(self) -> dict[str, Any]:
        """The run at a glance, as plain data for JSON: `show --json`, and the best activation in LaTeX."""
        record = self.record
        data = record.data()
        if data["best"] is not None:
            data["best"]["latex"] = Architecture(data["best"]["genome"]).latex
        return data

    def __repr__(self) -> str:
        with Reader(self.directory) as reader:
            best = find_best(reader)
            found = "none" if best is None else f"{best.entry.loss:.2e}"
            return (
                f"{type(self).__name__}({str(self.directory)!r}, problem={self.problem!r}, "
                f"method={self.method!r}, state={reader.state()!r}, best loss: {found})"
            )

    def _best(self) -> BestNetwork:
        with Reader(self.directory) as reader:
            best = find_best(reader)
            if best is None:
                reason = why_no_network(self.directory, reader.state(), reader.failures())
                raise RunError(f"the run {self.directory} has no network: {reason}.")
        return best
