"""A fitness that costs nothing, and a driver that trains nothing."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from evopinn.genome import Genome
from evopinn.genome.tree import walk
from evopinn.search import Schedule, Score, Searcher, Task, Trials, Workplan

WORKPLANS: dict[str, Workplan] = {
    "evo-dpste": Schedule((12, 6, 4), (10, 20, 40)),
    "evolution": Schedule((6, 6, 6), (20, 20, 20)),
    "random": Schedule((12, 6, 4), (10, 20, 40)),
    "bo-fcnet": Trials(13, 20),
    "bo-fcresnet": Trials(13, 20),
}
"""A small workplan of each method."""

Loss = Callable[[Task], float]


def deceptive_loss(genome: Genome) -> float:
    """A trap: the shallower, the better, but for the deepest networks, which alone are good.

    The activation counts too: operators of the right kinds, each worth as much as any other, so that it pays
    to keep what was found and to add to it.
    """
    depth, neurons = genome.structure.layers, genome.structure.neurons
    trap = 0.0 if depth >= 10 else 2.0 + 0.3 * (depth - 3)
    operators = {node.operator for _, node in walk(genome.activation.root)}
    wanted = len({"asinh", "cos", "mul"} - operators)
    return 0.01 + trap + abs(neurons - 42) / 10 + wanted


def noisy(task: Task) -> float:
    """The trap with noise that depends on the task alone, less of it the longer the training."""
    noise = np.random.default_rng(task.seed).lognormal(0.0, 1 / np.sqrt(task.epochs))
    return deceptive_loss(task.genome) * float(noise)


def exact(task: Task) -> float:
    return deceptive_loss(task.genome)


@dataclass
class Driven:
    """What a search asked for and was told."""

    tasks: list[Task] = field(default_factory=list[Task])
    losses: dict[int, float] = field(default_factory=dict[int, float])

    def of(self, generation: int) -> list[Task]:
        return [task for task in self.tasks if task.generation == generation]

    def doing(self, operation: str) -> list[Task]:
        return [task for task in self.tasks if operation in task.origin.operations]


def drive(searcher: Searcher, loss: Loss, shuffle: np.random.Generator | None = None) -> Driven:
    """Run a search to its end; tasks are told in the order of asking, or shuffled."""
    driven = Driven()
    while not searcher.finished:
        tasks = list(searcher.ask())
        assert tasks, "the search neither asks nor ends"
        driven.tasks += tasks
        if shuffle is not None:
            shuffle.shuffle(tasks)  # pyright: ignore[reportArgumentType]
        for task in tasks:
            driven.losses[task.number] = loss(task)
            searcher.tell(task.number, Score(driven.losses[task.number]))
    return driven
