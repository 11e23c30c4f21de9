"""No search: the genomes of a list, each trained several times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from evopinn.errors import SearchError
from evopinn.genome import Genome
from evopinn.lineage import CANDIDATE
from evopinn.means import Mean, known_mean
from evopinn.searchers.checking import whole
from evopinn.searchers.rounds import Course, RoundSearch
from evopinn.searchers.schedule import Roster, Workload
from evopinn.searchers.task import Finalist, Origin, Task


@dataclass(frozen=True)
class ListedSettings:
    """Settings of a list.

    Attributes:
        evaluations: How often each genome is trained, from as many seeds.
        mean: Of their losses, which orders the genomes.
    """

    evaluations: int = 3
    mean: Mean = "arithmetic"

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        whole("evaluations", self.evaluations, 1)
        known_mean(self.mean)

    def workload(self, roster: Roster) -> Workload:
        """What is trained."""
        return roster.workload(self.evaluations)


@final
class Listed(RoundSearch):
    """Trains what it is given; all genomes with a seed before the next seed.

    Args:
        roster: Genomes and the epochs of each training.
        seed: Of the first training of each genome; the others have those that follow, so that each is the
            training that `evopinn train --seed` does.
        settings: How it is done.
    """

    def __init__(self, roster: Roster, seed: int, settings: ListedSettings | None = None) -> None:
        super().__init__(seed)
        self._roster = roster
        self._settings = settings or ListedSettings()
        genomes = [Genome.parse(text) for text in roster.genomes]
        _refuse_twins(genomes)
        self._genomes = genomes

    def _course(self) -> Course:
        tasks = [
            Task(self._number(), 1, genome, self._roster.epochs, self._seed + trial, Origin((CANDIDATE,)))
            for trial in range(self._settings.evaluations)
            for genome in self._genomes
        ]
        scores = yield tasks
        losses = {task.number: -score.fitness for task, score in zip(tasks, scores, strict=True)}
        each = len(self._genomes)
        finalists = [
            Finalist(genome, numbers, tuple(losses[number] for number in numbers), self._settings.mean)
            for first, genome in enumerate(self._genomes)
            for numbers in [tuple(range(first, len(tasks), each))]
        ]
        return tuple(sorted(finalists, key=lambda finalist: finalist.mean_loss))


def _refuse_twins(genomes: Sequence[Genome]) -> None:
    """Refuse a genome that is listed twice: its trainings could not be told apart."""
    seen: set[str] = set()
    for genome in genomes:
        if genome.key in seen:
            raise SearchError(f"the genome {genome} is listed twice; list it once.")
        seen.add(genome.key)
