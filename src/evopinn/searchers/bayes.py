"""Bayesian optimisation of fully connected networks, without shortcuts or with regular ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, final

from evopinn.errors import SearchError
from evopinn.genome import COMMON, PAPER, Genome, Space, Structure, regular_shortcuts
from evopinn.lineage import PROPOSED
from evopinn.means import Mean, known_mean
from evopinn.searchers.checking import finite_from, flag, whole
from evopinn.searchers.proposals import Cell, MixedProposer, Proposer, RoundedProposer
from evopinn.searchers.rounds import Course, RoundSearch, draw_seed
from evopinn.searchers.schedule import Trials, Workload
from evopinn.searchers.selection import Individual, distinct, ranked
from evopinn.searchers.task import Origin, Score, Task

FCNET, FCRESNET = 0, 2
"""Layers that each shortcut spans: FcNet has none, the paper's FcResNet regular ones over two layers."""

WORST_LOSS = 1e4
"""Losses, and failures, are clipped here, so that they do not flatten all differences between the rest."""

LEAST_LOSS = 1e-300
"""A loss of zero is taken for this one where a logarithm is needed."""

OBJECTIVES = ("log10", "loss")


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
        batch: How many proposals are made at once, to be trained side by side; by default two, and one if
            faithful.
        startup: How many proposals are drawn at random first.
        kappa: κ of the upper confidence bound, if faithful.
        candidates: N_c, how many of the best are evaluated at the end.
        evaluations: N_e, how often each of them is trained from scratch.
        mean: Of their losses, what decides who wins; the paper's is the arithmetic one.
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
        """Refuse what makes no sense."""
        if self.objective not in (*OBJECTIVES, None):
            raise SearchError(f"objective is {self.objective!r}; it must be {' or '.join(OBJECTIVES)}.")
        flag("faithful", self.faithful)
        whole("span", self.span, 0)
        if self.batch is not None:
            whole("batch", self.batch, 1)
        for name in ("startup", "candidates", "evaluations"):
            whole(name, getattr(self, name), 1)
        finite_from("kappa", self.kappa, 0.0)
        known_mean(self.mean)

    def workload(self, trials: Trials) -> Workload:
        """What a search does, at most: there may be fewer candidates."""
        return trials.workload(self.side_by_side, self.candidates, self.evaluations)

    @property
    def side_by_side(self) -> int:
        """How many proposals are made at once."""
        return self.batch or (1 if self.faithful else 2)

    @property
    def retrains_best(self) -> bool:
        """Whether each generation's best is trained once more: there are no generations."""
        return False

    def cost(self, score: Score) -> float:
        """What is modelled of a score."""
        loss = min(-score.fitness, WORST_LOSS)
        objective = self.objective or ("loss" if self.faithful else "log10")
        return math.log10(max(loss, LEAST_LOSS)) if objective == "log10" else loss


@final
class BayesianOptimisation(RoundSearch):
    """Bayesian optimisation of layers, neurons and one of the common activation functions.

    Args:
        trials: How many proposals are trained, and for how many epochs.
        seed: All random choices follow from it and from the scores.
        space: Gives the layers, the neurons and which common activation functions are allowed.
        settings: How it is done.
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
        if not self._activations:
            raise SearchError(
                f"none of the {len(COMMON)} common activation functions lies in this search space; "
                "allow more operators or parameters, or search by evolution."
            )

    def _course(self) -> Course:
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
        seed, settings = draw_seed(self._generator(0)), self._settings
        if settings.faithful:
            return RoundedProposer(shape, settings.startup, seed, settings.kappa)
        return MixedProposer(shape, settings.startup, seed)

    def _genome(self, cell: Cell) -> Genome:
        """The network of a cell of the grid."""
        layers, neurons, activation = cell
        depth = self._layers[layers]
        shortcuts = regular_shortcuts(depth, self._settings.span)
        return Genome(Structure(depth, self._neurons[neurons], shortcuts), self._activations[activation])
