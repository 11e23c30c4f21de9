"""A search as a course of rounds: a round's tasks are independent, the next round needs all their scores."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from itertools import count
from typing import final

import numpy as np

from evopinn.checks import MOST_SEED
from evopinn.errors import SearchError
from evopinn.genome import Genome
from evopinn.lineage import CANDIDATE
from evopinn.means import Mean
from evopinn.searchers.checking import whole
from evopinn.searchers.task import Finalist, Origin, Score, Task

Course = Generator[Sequence[Task], Sequence[Score], tuple[Finalist, ...]]
"""What yields a round's tasks, gets their scores in the same order, and returns the finalists."""

SEEDS = 2**32
"""Seeds of initial weights are drawn from 0 up to here."""


class RoundSearch(ABC):
    """A searcher that is written down as its course; asking and telling are the same for all.

    The scores of a round reach the course together and in the order of its tasks, so that the order of
    telling cannot matter. A task may be told that was never asked for since the search was made: that is how
    a recorded search is taken up again, after which `ask` gives what is left of the round.
    """

    def __init__(self, seed: int) -> None:
        self._seed = whole("seed", seed, 0, MOST_SEED)
        self._numbers = count()
        self._tasks: dict[int, Task] = {}
        self._unasked: list[Task] = []
        self._scores: dict[int, Score] = {}
        self._finalists: tuple[Finalist, ...] | None = None
        self._running: Course | None = None

    @abstractmethod
    def _course(self) -> Course:
        """The course of the search from its beginning."""

    @final
    def ask(self) -> tuple[Task, ...]:
        """All tasks that can be begun now, were not asked for before and are not told yet."""
        self._begin()
        tasks = tuple(task for task in self._unasked if task.number not in self._scores)
        self._unasked = []
        return tasks

    @final
    def tell(self, number: int, score: Score) -> None:
        """How a task came out; each task is told once."""
        self._begin()
        if number not in self._tasks or number in self._scores:
            raise SearchError(
                f"task {number!r} was told already or is not under way; "
                f"tell each of the {len(self._tasks) - len(self._scores)} tasks under way once."
            )
        self._scores[number] = score
        if len(self._scores) == len(self._tasks):
            self._advance()

    @final
    @property
    def finished(self) -> bool:
        """Whether all is asked and told."""
        return self._finalists is not None

    @final
    @property
    def finalists(self) -> tuple[Finalist, ...]:
        """The candidates, best mean first; none before the search is finished."""
        return self._finalists or ()

    def _begin(self) -> None:
        """Make the first round, once."""
        if self._running is None:
            self._running = self._course()
            self._take(next(self._running))

    def _advance(self) -> None:
        """Go on to the next round that asks for anything; a round may know all its scores beforehand."""
        assert self._running is not None
        try:
            while len(self._scores) == len(self._tasks):
                scores = tuple(self._scores[number] for number in self._tasks)
                self._take(self._running.send(scores))
        except StopIteration as end:
            self._finalists = end.value
            self._take(())

    def _take(self, tasks: Sequence[Task]) -> None:
        # Only the round under way is kept: a search may see a hundred thousand tasks.
        self._tasks = {task.number: task for task in tasks}
        self._unasked = list(tasks)
        self._scores = {}

    def _generator(self, generation: int) -> np.random.Generator:
        """The random numbers of one generation, whatever was drawn in those before it."""
        return np.random.default_rng(np.random.SeedSequence((self._seed, generation)))

    def _number(self) -> int:
        """The number of the next task."""
        return next(self._numbers)

    def _evaluate(
        self,
        candidates: Iterable[tuple[Genome, int]],
        times: int,
        epochs: int,
        generation: int,
        mean: Mean = "arithmetic",
    ) -> Course:
        """Train candidates, each given with the task it comes from, several times; the best mean first."""
        rng = self._generator(generation)
        chosen = tuple(candidates)
        tasks = [
            Task(self._number(), generation, genome, epochs, draw_seed(rng), Origin((CANDIDATE,), (parent,)))
            for genome, parent in chosen
            for _ in range(times)
        ]
        scores = yield tasks
        finalists = [
            Finalist(
                genome,
                tuple(task.number for task in tasks[first : first + times]),
                tuple(-score.fitness for score in scores[first : first + times]),
                mean,
            )
            for first, (genome, _) in zip(range(0, len(tasks), times), chosen, strict=True)
        ]
        return tuple(sorted(finalists, key=lambda finalist: finalist.mean_loss))


def draw_seed(rng: np.random.Generator) -> int:
    """A seed for initial weights."""
    return int(rng.integers(SEEDS))
