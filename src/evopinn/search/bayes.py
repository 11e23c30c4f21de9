"""Bayesian optimisation of fully connected networks, without shortcuts or with regular ones."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Literal, final

from evopinn.errors import SearchError
from evopinn.genome import COMMON, PAPER, STARTS, Genome, Space, Start, Structure, regular_shortcuts
from evopinn.search.costs import LEAST_LENGTH, SpanCosts, scaled_epochs
from evopinn.search.means import Mean, check_mean
from evopinn.search.method import Method
from evopinn.search.proposals import Cell, MixedProposer, Proposer, RoundedProposer
from evopinn.search.round_search import Rounds, RoundSearch, draw_seed
from evopinn.search.selection import Individual, distinct, ranked
from evopinn.search.task import PROPOSED, Origin, Score, Task
from evopinn.search.validation import check_at_least, check_flag, check_whole
from evopinn.search.workload import Workload, WorkloadStage
from evopinn.search.workplan import MOST_TRAININGS, Workplan

if TYPE_CHECKING:
    from evopinn.search.presets import Preset
    from evopinn.search.schedule import Schedule

FCNET, FCRESNET = 0, 2
"""Layers that each shortcut spans: FcNet has none, the paper's FcResNet regular ones over two layers."""

WORST_LOSS = 1e4
"""The loss at which larger losses and failures are clipped, so that they do not hide the differences between
the rest."""

LEAST_LOSS = 1e-300
"""The loss that replaces zero where a logarithm is needed."""

OBJECTIVES = ("log10", "loss")

_LEVELS = 7
"""The number of values of each parameter of a start."""


@dataclass(frozen=True)
class Trials(Workplan):
    """The number of evaluations of Bayesian optimisation, and the epochs of each."""

    table: ClassVar = "trials"
    wanted: ClassVar = "a number of trials and their epochs"

    evaluations: int
    epochs: int

    def __post_init__(self) -> None:
        """Refuse impossible numbers."""
        object.__setattr__(
            self, "evaluations", check_whole("evaluations", self.evaluations, 1, MOST_TRAININGS)
        )
        object.__setattr__(self, "epochs", check_whole("epochs", self.epochs, 1))

    @property
    def longest(self) -> int:
        """The epochs of each training."""
        return self.epochs

    def workload(self, batch: int, candidates: int, evaluations: int) -> Workload:
        """The workload of these trials, `batch` at a time."""
        full, rest = divmod(self.evaluations, batch)
        return Workload(
            (
                WorkloadStage(batch, self.epochs, full, kind="batch"),
                WorkloadStage(rest, self.epochs, kind="batch"),
                WorkloadStage(min(candidates, self.evaluations) * evaluations, self.epochs, kind="final"),
            )
        )

    def __str__(self) -> str:
        return f"{self.evaluations} proposals, {self.epochs:,} epochs each"


@dataclass(frozen=True)
class BayesSettings:
    """Settings of Bayesian optimisation.

    Attributes:
        span: Layers that each shortcut spans; 0 for no shortcuts.
        faithful: As the paper did it: layers, neurons and activation as rounded real numbers, the upper
            confidence bound, and the loss itself as objective. Otherwise Optuna's Gaussian process on a mixed
            space.
        objective: What is modelled, "log10" of the loss or the "loss"; by default the former, and the latter
            if faithful.
        batch: Number of proposals made at once and trained in parallel; by default two, and one if faithful.
        startup: Number of initial random proposals.
        kappa: κ of the upper confidence bound, if faithful.
        candidates: N_c, the number of the best that are evaluated at the end.
        evaluations: N_e, the number of trainings from scratch of each.
        mean: The mean of their losses that ranks them; the paper's is arithmetic.
    """

    span: int = FCNET
    faithful: bool = False
    objective: Literal["log10", "loss"] | None = None
    batch: int | None = None
    startup: int = 10
    kappa: float = 2.5
    candidates: int = 3
    evaluations: int = 4
    mean: Mean = "arithmetic"

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        if self.objective not in (*OBJECTIVES, None):
            raise SearchError(f"objective is {self.objective!r}; it must be {' or '.join(OBJECTIVES)}.")
        check_flag("faithful", self.faithful)
        check_whole("span", self.span, 0)
        if self.batch is not None:
            check_whole("batch", self.batch, 1)
        for name in ("startup", "candidates", "evaluations"):
            check_whole(name, getattr(self, name), 1)
        check_at_least("kappa", self.kappa, 0.0)
        check_mean(self.mean)

    def workload(self, trials: Trials) -> Workload:
        """What a search does, at most: there may be fewer candidates."""
        return trials.workload(self.side_by_side, self.candidates, self.evaluations)

    @property
    def side_by_side(self) -> int:
        """The number of proposals made at once."""
        return self.batch or (1 if self.faithful else 2)

    def cost(self, score: Score) -> float:
        """The cost that a proposer learns from a score."""
        loss = min(score.ranked_loss, WORST_LOSS)
        objective = self.objective or ("loss" if self.faithful else "log10")
        return math.log10(max(loss, LEAST_LOSS)) if objective == "log10" else loss


@final
class BayesianOptimisation(RoundSearch):
    """Bayesian optimisation of layers, neurons and one of the common activation functions.

    If the space has several starts, or one with parameters, those are optimised with them; the parameters of
    a start that is not chosen have no effect.

    Args:
        trials: How many proposals are trained, and for how many epochs.
        seed: All random choices follow from it and from the scores.
        space: Gives the layers, the neurons, which common activation functions are allowed, and the starts.
        settings: The settings of the method.
    """

    def __init__(
        self, trials: Trials, seed: int, space: Space = PAPER, settings: BayesSettings | None = None
    ) -> None:
        super().__init__(seed)
        self._trials = trials
        self._settings = settings or BayesSettings()
        self._layers: Sequence[int] = range(space.min_layers, space.max_layers + 1)
        self._neurons: Sequence[int] = space.neuron_choices
        common = [row.activation for row in COMMON.values()]
        self._activations = [activation for activation in common if space.permits(activation)]
        self._starts = [STARTS[name] for name in space.starts]
        self._varies_start = space.varies_start
        if not self._activations:
            raise SearchError(
                f"none of the {len(COMMON)} common activation functions lies in this search space; "
                "allow more operators or parameters, or search by evolution."
            )

    def _rounds(self) -> Rounds:
        trials, settings = self._trials, self._settings
        proposer = self._proposer()
        tried: list[Individual] = []
        batch = 0
        while len(tried) < trials.evaluations:
            batch += 1
            rng = self._generator(batch)
            cells = proposer.propose(min(settings.side_by_side, trials.evaluations - len(tried)))
            tasks = [
                Task(
                    self._number(),
                    batch,
                    self._genome(cell),
                    trials.epochs,
                    draw_seed(rng),
                    Origin((PROPOSED,)),
                )
                for cell in cells
            ]
            scores = yield tasks
            proposer.learn([settings.cost(score) for score in scores])
            tried += [
                Individual(task.genome, task.number, score) for task, score in zip(tasks, scores, strict=True)
            ]
        best = islice(distinct(ranked(tried)), settings.candidates)
        candidates = [(each.genome, each.task) for each in best]
        return (
            yield from self._evaluate(
                candidates, settings.evaluations, trials.epochs, batch + 1, settings.mean
            )
        )

    def _proposer(self) -> Proposer:
        shape = (len(self._layers), len(self._neurons), len(self._activations))
        categories = 1
        if self._varies_start:
            levels = [_LEVELS for start in self._starts for _ in start.parameters]
            shape = (*shape[:2], *levels, shape[2], len(self._starts))
            categories = 2
        seed, settings = draw_seed(self._generator(0)), self._settings
        if settings.faithful:
            return RoundedProposer(shape, settings.startup, seed, settings.kappa)
        return MixedProposer(shape, settings.startup, seed, categories)

    def _genome(self, cell: Cell) -> Genome:
        """The network of a cell of the grid."""
        layers, neurons, *levels, activation, start = cell if self._varies_start else (*cell, 0)
        depth = self._layers[layers]
        shortcuts = regular_shortcuts(depth, self._settings.span)
        structure = Structure(depth, self._neurons[neurons], shortcuts)
        return Genome(structure, self._activations[activation], self._start(start, levels))

    def _start(self, chosen: int, levels: Sequence[int]) -> Start:
        """A start with its own parameters among those of all."""
        row = self._starts[chosen]
        first = sum(len(before.parameters) for before in self._starts[:chosen])
        values = (
            each.at(level / (_LEVELS - 1))
            for each, level in zip(row.parameters, levels[first:], strict=False)
        )
        return Start(row.name, tuple(values))


@final
@dataclass(frozen=True)
class BayesMethod(Method[BayesSettings, Trials]):
    """Bayesian optimisation as a method of `evopinn search`."""

    workplan: ClassVar = Trials

    def _searcher(
        self, workplan: Trials, settings: BayesSettings, seed: int, space: Space
    ) -> BayesianOptimisation:
        return BayesianOptimisation(workplan, seed, space, settings)

    def for_budget(
        self, settings: BayesSettings, costs: SpanCosts, work: float, last: float
    ) -> Callable[[float], Trials]:
        """As many proposals as there is work for; workers beyond the batch have nothing to do."""
        busy = min(costs.workers, settings.side_by_side) / costs.workers
        final_work = costs.work(settings.candidates * settings.evaluations, last)
        trials = max(settings.candidates, int((work - final_work) * busy / last))
        return lambda factor: Trials(trials, scaled_epochs(last, factor))

    def smallest(self, settings: BayesSettings, costs: SpanCosts) -> Trials:
        """As many proposals as are needed to choose candidates from."""
        del costs
        least = LEAST_LENGTH - settings.candidates * settings.evaluations
        return Trials(max(settings.candidates, least), 1)

    def widened(self, workplan: Trials, trainings: int) -> Trials:
        """The same with so many more proposals."""
        return replace(workplan, evaluations=workplan.evaluations + trainings)

    def matching(self, reference: "Schedule", epochs: int) -> Trials:
        """As many proposals as there is room for beside the final evaluations."""
        final_trainings = self.defaults.candidates * self.defaults.evaluations
        proposals = max(round(epochs / reference.longest) - final_trainings, 3)
        return Trials(proposals, -(-epochs // (proposals + final_trainings)))

    def of_preset(self, preset: "Preset") -> Trials:
        """The preset's number of proposals."""
        return preset.trials
