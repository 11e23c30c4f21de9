"""The method `listed`, which trains a list of genomes several times instead of searching."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

from evopinn.errors import SearchError
from evopinn.genome import Genome, Space
from evopinn.search.means import Mean, check_mean
from evopinn.search.method import Method, times
from evopinn.search.ranking import best_mean_first
from evopinn.search.round_search import Rounds, RoundSearch
from evopinn.search.task import CANDIDATE, Finalist, Origin, Task
from evopinn.search.validation import check_whole
from evopinn.search.workload import Workload, WorkloadStage
from evopinn.search.workplan import Workplan


@dataclass(frozen=True)
class Roster(Workplan):
    """Genomes, as text, and the number of epochs to train each for.

    Examples:
        >>> str(Roster(("layers=3 neurons=8 activation=sin(x)",), 50))
        '1 genome, 50 epochs a training'
    """

    table: ClassVar = "roster"
    wanted: ClassVar = "a table [roster] of genomes and epochs"

    genomes: tuple[str, ...]
    epochs: int

    def __post_init__(self) -> None:
        """Refuse an empty list and impossible epochs."""
        if not self.genomes:
            raise SearchError("the roster has no genomes; give one or more.")
        object.__setattr__(self, "epochs", check_whole("epochs", self.epochs, 1))

    @property
    def longest(self) -> int:
        """The epochs of each training."""
        return self.epochs

    def with_genomes(self, read: Callable[[str], str]) -> "Roster":
        """The same with each genome as `read` makes it of what a user wrote, such as a model's name."""
        return replace(self, genomes=tuple(map(read, self.genomes)))

    def __str__(self) -> str:
        genomes = "1 genome" if len(self.genomes) == 1 else f"{len(self.genomes)} genomes"
        return f"{genomes}, {self.epochs:,} epochs a training"


@dataclass(frozen=True)
class GenomeListSettings:
    """Settings of a list of genomes.

    Attributes:
        evaluations: Number of trainings of each genome, each with its own seed.
        mean: The mean of their losses that orders the genomes.
    """

    evaluations: int = 3
    mean: Mean = "arithmetic"

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        check_whole("evaluations", self.evaluations, 1)
        check_mean(self.mean)

    def workload(self, roster: Roster) -> Workload:
        """The trainings of all genomes."""
        trainings = len(roster.genomes) * self.evaluations
        return Workload((WorkloadStage(trainings, roster.epochs, kind="final"),))


@final
class GenomeListTraining(RoundSearch):
    """Trains all genomes with one seed, then with the next.

    Args:
        roster: Genomes and the epochs of each training.
        seed: The seed of the first training of each genome; the others have the following seeds, so that each
            equals a training of `evopinn train --seed`.
        settings: The settings of the method.
    """

    def __init__(self, roster: Roster, seed: int, settings: GenomeListSettings | None = None) -> None:
        super().__init__(seed)
        self._roster = roster
        self._settings = settings or GenomeListSettings()
        genomes = [Genome.parse(text) for text in roster.genomes]
        _refuse_twins(genomes)
        self._genomes = genomes

    def _rounds(self) -> Rounds:
        tasks = [
            Task(self._number(), 1, genome, self._roster.epochs, self._seed + trial, Origin((CANDIDATE,)))
            for trial in range(self._settings.evaluations)
            for genome in self._genomes
        ]
        scores = yield tasks
        losses = {task.number: score.ranked_loss for task, score in zip(tasks, scores, strict=True)}
        each = len(self._genomes)
        finalists = [
            Finalist(genome, numbers, tuple(losses[number] for number in numbers), self._settings.mean)
            for first, genome in enumerate(self._genomes)
            for numbers in [tuple(range(first, len(tasks), each))]
        ]
        return tuple(best_mean_first(finalists))


@final
@dataclass(frozen=True)
class GenomeListMethod(Method[GenomeListSettings, Roster]):
    """A list of genomes as a method, which gives it workers and a record."""

    workplan: ClassVar = Roster
    takes_budget: ClassVar = False
    skips_costly: ClassVar = False

    def _searcher(
        self, workplan: Roster, settings: GenomeListSettings, seed: int, space: Space
    ) -> GenomeListTraining:
        del space  # what is listed is trained wherever it lies
        return GenomeListTraining(workplan, seed, settings)

    def first_genomes(self, workplan: Roster | None, space: Space) -> Sequence[Genome]:
        """The listed genomes."""
        del space
        return () if workplan is None else tuple(map(Genome.parse, workplan.genomes))

    def describe(self, workplan: Roster, settings: GenomeListSettings, workload: Workload) -> str:
        """The genomes and trainings, in words."""
        del workload
        return f"{workplan}, each trained {times(settings.evaluations)}"


def _refuse_twins(genomes: Sequence[Genome]) -> None:
    """Refuse a genome that is listed twice, whose trainings would be indistinguishable."""
    seen: set[str] = set()
    for genome in genomes:
        if genome.key in seen:
            raise SearchError(f"the genome {genome} is listed twice; list it once.")
        seen.add(genome.key)
