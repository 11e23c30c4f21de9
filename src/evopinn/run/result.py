"""What a search gives, while it runs, after it, or after it was killed: its run, read as it is asked for."""

import importlib
import math
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evopinn.errors import EvopinnError, RunError, StoredModelError
from evopinn.run.deceit import deceit
from evopinn.run.listed import Entry, FinalistEntry, RunState
from evopinn.run.reading import Reader
from evopinn.run.summary import Best, Intent, activation_of, find_best, structure_of, summarise
from evopinn.run.table import Row, evaluation_rows
from evopinn.run.wording import visible, why_no_network

if TYPE_CHECKING:
    from evopinn.training import History, TrainingResult


class SearchResult:
    """What a search has found. Everything is read when it is asked for, so a run may still be under way.

    Args:
        directory: The run's.

    Attributes:
        directory: The run's.
        problem: The problem's name.
        method: The search method's name.
        seed: That all random choices followed from.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        with self._reader() as reader:
            intent = Intent.of(reader.about().config, self.directory)
        self.problem, self.method, self.seed = intent.problem, intent.method, intent.seed

    @property
    def state(self) -> RunState:
        """`running`, `finished`, or `stopped`, also by a kill: then it can be resumed."""
        with self._reader() as reader:
            return reader.state()

    @property
    def best(self) -> "TrainingResult":
        """The best network: of the winner's that are kept, the one with the least loss.

        The winner is the genome with the best mean of the final evaluations. Kept are the networks of these,
        and of its earlier trainings the best, if the genome is in the hall of fame. Before there is a winner,
        this is the network of the first in the hall of fame.
        """
        while True:
            task = self._best().entry.task
            try:
                return self._load(task)
            except StoredModelError:
                # A better one may have taken its place since: a running search removes what it surpasses.
                if self._best().entry.task == task:
                    raise

    @property
    def hall_of_fame(self) -> Sequence[Entry]:
        """The best evaluation of each of the ten best genomes, best first."""
        with self._reader() as reader:
            return reader.hall_of_fame()

    @property
    def finalists(self) -> Sequence[FinalistEntry]:
        """The final evaluations by genome, the best mean first; empty before there are any."""
        with self._reader() as reader:
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

    def history(self, task: int) -> "History | None":
        """The course of a task's training: losses by epoch, and errors where they were measured.

        Args:
            task: Its number, as in `hall_of_fame` and `evaluations()`.

        Returns:
            The course of the attempt that settled the task; None if there is none, as where it failed.
        """
        with self._reader() as reader:
            return reader.history(task)

    def weights(self, task: int) -> "TrainingResult":
        """The network that a task gave; those of the hall of fame and of the final evaluations are kept.

        Args:
            task: Its number, as in `hall_of_fame` and in `finalists`.

        Raises:
            RunError: It was not kept; the message has those that are.
        """
        from evopinn.run.weights import kept_weights

        kept = kept_weights(self.directory)
        if task not in kept:
            others = ", ".join(map(str, sorted(kept))) or "none"
            raise RunError(
                f"the run {self.directory} has not kept task {task}'s network; kept are: {others}."
            )
        return self._load(task)

    def summary(self) -> dict[str, Any]:
        """The run at a glance, as plain data for JSON: `show --json`, and the best activation in LaTeX."""
        data = summarise(self.directory).data()
        if data["best"] is not None:
            from evopinn.genome import Genome

            data["best"]["latex"] = Genome.parse(data["best"]["genome"]).activation.latex()
        return data

    def __repr__(self) -> str:
        with self._reader() as reader:
            best = find_best(reader)
            found = "none" if best is None else f"{best.entry.loss:.2e}"
            return (
                f"SearchResult({str(self.directory)!r}, problem={self.problem!r}, method={self.method!r}, "
                f"state={reader.state()!r}, best loss: {found})"
            )

    def __str__(self) -> str:
        """The winner by means, and the hall of fame as a table of single trainings."""
        rows = self.table()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([*self.headlines(), *lines])

    def headlines(self) -> Sequence[str]:
        """What was searched and how it stands, and the best of the final evaluations, if there are any."""
        head = visible(f"{self.problem}, {self.method}, seed {self.seed}: {self.state}")
        if not self.hall_of_fame:
            return head, self._why_no_network()
        words = deceit(self._best().residuals)
        warning = (f"warning: {words}.",) if words else ()
        winner = next(iter(self.finalists), None)
        if winner is None:
            return (head, *warning)
        if not math.isfinite(winner.mean_loss):
            command = f"`evopinn show {shlex.quote(str(self.directory))}`"
            none = f"no winner: final evaluations of all candidates failed; {command} says why."
            return (head, none, *warning)
        error = "" if winner.mean_error is None else f", error {winner.mean_error:.2e}"
        times = len(winner.tasks)
        figures = f"loss {winner.mean_loss:.2e}{error}{winner.which_mean}"
        found = f"winner: {winner.genome}; means of {times}: {figures}"
        return (head, found, *warning)

    def table(self) -> Sequence[Sequence[str]]:
        """The hall of fame as rows of text, the headers first; empty before there is anything."""
        entries = self.hall_of_fame
        columns = {
            "loss": [f"{entry.loss:.2e}" for entry in entries],
            "error": ["" if entry.error is None else f"{entry.error:.2e}" for entry in entries],
            "parameters": self._parameters(entries),
            "epochs": [str(entry.epochs) for entry in entries],
            "time": [f"{entry.seconds:.1f} s" for entry in entries],
            "structure": [structure_of(entry.genome) for entry in entries],
            "activation": [activation_of(entry.genome) for entry in entries],
        }
        return [tuple(columns), *zip(*columns.values(), strict=True)] if entries else []

    def _parameters(self, entries: Sequence[Entry]) -> list[str]:
        """How many parameters the networks have; nothing as long as no network tells inputs and outputs."""
        from evopinn.genome import Genome
        from evopinn.network import Layout

        try:
            best = self.best
        except EvopinnError:
            return ["" for _ in entries]
        sizes = len(best.coordinates), len(best.fields)
        return [str(Layout.of(Genome.parse(entry.genome), *sizes).size) for entry in entries]

    def _best(self) -> Best:
        with self._reader() as reader:
            best = find_best(reader)
        if best is None:
            raise RunError(f"the run {self.directory} has no network: {self._why_no_network()}.")
        return best

    def _why_no_network(self) -> str:
        with self._reader() as reader:
            return why_no_network(self.directory, reader.state(), reader.failures())

    def _load(self, task: int) -> "TrainingResult":
        from evopinn.run.weights import load_weights

        return load_weights(self.directory, task)

    def _reader(self) -> Reader:
        return Reader(self.directory)
