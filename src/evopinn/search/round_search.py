"""Searches in rounds of independent tasks, where the next round needs all their scores."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from itertools import count
from typing import final

import numpy as np

from evopinn.checks import MAX_SEED
from evopinn.errors import SearchError
from evopinn.genome import Genome
from evopinn.search.means import Mean
from evopinn.search.ranking import best_mean_first
from evopinn.search.task import CANDIDATE, Finalist, Origin, Score, Task
from evopinn.search.validation import check_whole

Rounds = Generator[Sequence[Task], Sequence[Score], tuple[Finalist, ...]]
"""A search from its beginning: yields a round's tasks, gets their scores in the same order, and returns the
finalists."""

SEEDS = 2**32
"""Seeds of initial weights are drawn from 0 up to here."""


class RoundSearch(ABC):
    """A searcher defined by its rounds, with `ask` and `tell` in common.

    It receives the scores of a round together, in the order of the tasks, so the order of the calls of `tell`
    does not matter. A resumed search first receives the recorded scores, without `ask`; then `ask` returns
    the rest of the round.
    """

    def __init__(self, seed: int) -> None:
        self._seed = check_whole("seed", seed, 0, MAX_SEED)
        self._numbers = count()
        self._tasks: dict[int, Task] = {}
        self._unasked: list[Task] = []
        self._scores: dict[int, Score] = {}
        self._finalists: tuple[Finalist, ...] | None = None
        self._running: Rounds | None = None

    @abstractmethod
    def _rounds(self) -> Rounds:
        """The rounds of the search from its beginning."""

    @final
    def ask(self) -> tuple[Task, ...]:
        """All tasks that can start now, were not returned before and have no score yet."""
        self._begin()
        tasks = tuple(task for task in self._unasked if task.number not in self._scores)
        self._unasked = []
        return tasks

    @final
    def tell(self, number: int, score: Score) -> None:
        """Receive the score of a task; each task has one score."""
        self._begin()
        if number not in self._tasks or number in self._scores:
            raise SearchError(
                f"task {number!r} already has a score, or was never handed out; "
                f"give each of the {len(self._tasks) - len(self._scores)} tasks under way one score."
            )
        self._scores[number] = score
        if len(self._scores) == len(self._tasks):
            self._advance()

    @final
    @property
    def finished(self) -> bool:
        """Whether all tasks have their scores."""
        return self._finalists is not None

    @final
    @property
    def finalists(self) -> tuple[Finalist, ...]:
        """The candidates, best mean first; none before the search is finished."""
        return self._finalists or ()

    def _begin(self) -> None:
        """Start the first round, once."""
        if self._running is None:
            self._running = self._rounds()
            self._take(next(self._running))

    def _advance(self) -> None:
        """Advance to the next round with tasks; a round may already know all its scores."""
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
        """The random generator of one generation, independent of earlier draws."""
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
    ) -> Rounds:
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
                tuple(score.ranked_loss for score in scores[first : first + times]),
                mean,
            )
            for first, (genome, _) in zip(range(0, len(tasks), times), chosen, strict=True)
        ]
        return tuple(best_mean_first(finalists))


def draw_seed(rng: np.random.Generator) -> int:
    """A seed for initial weights."""
    return int(rng.integers(SEEDS))
