"""The cases of the benchmark: networks on problems, target speeds, and the amount of measurement."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from evopinn.catalogue import find_problem
from evopinn.genome import Genome, find_published, is_published
from evopinn.problem import Grid, Problem


@dataclass(frozen=True)
class Case:
    """A network on a problem.

    Attributes:
        problem: Name in the catalogue.
        network: A genome's text, or a published model such as `paper:evo-dpste-1`.
        points: Other points than the paper's.

    Examples:
        >>> Case("lame", "paper:evo-dpste-2").label
        'evo-dpste-2: 8×48 sin(tanh(a*x))'
    """

    problem: str
    network: str
    points: Grid | None = None

    def statement(self) -> Problem:
        """The problem, on the points asked for."""
        stated = find_problem(self.problem)
        return stated if self.points is None else replace(stated, points=self.points)

    @property
    def genome(self) -> Genome:
        """The network."""
        if is_published(self.network):
            return find_published(self.network, self.problem).genome
        return Genome.parse(self.network)

    @property
    def label(self) -> str:
        """Layers, neurons and activation, after the name of a published model."""
        structure, activation = self.genome.structure, self.genome.activation
        name = f"{self.network.removeprefix('paper:')}: " if is_published(self.network) else ""
        return f"{name}{structure.layers}×{structure.neurons} {activation}"

    @property
    def evolved(self) -> bool:
        """Whether the activation is anything but tanh, parameters or not."""
        root = self.genome.activation.root
        return root.operator != "tanh" or not root.is_leaf


@dataclass(frozen=True)
class Target:
    """The target speed of an engine, as a multiple of that of nested autograd.

    Attributes:
        evolved: On evolved activations.
        tanh: On tanh, whose nested derivatives are cheap.
    """

    evolved: float
    tanh: float

    def of(self, case: Case) -> float:
        """The target for a case."""
        return self.evolved if case.evolved else self.tanh


TARGETS: Mapping[str, Target] = MappingProxyType(
    {"taylor": Target(evolved=5, tanh=2), "fused": Target(evolved=10, tanh=3.5)}
)
"""By engine."""

EVOLVED = "layers=6 neurons=48 activation=asinh(x)*cos(x)"
TANH = "layers=9 neurons=50 activation=tanh(x)"

CASES = (
    Case("klein-gordon", EVOLVED),
    Case("klein-gordon", "layers=9 neurons=44 activation=a*tanh(b*x)*cos(x)"),
    Case("klein-gordon", "paper:evo-dpste-3"),
    Case("klein-gordon", TANH),
    Case("klein-gordon", "paper:evo-dpste-1"),
    Case("klein-gordon", "paper:evo-dpste-2"),
    Case("burgers", "paper:evo-dpste-1"),
    Case("burgers", "paper:evo-dpste-2"),
    Case("burgers", "paper:evo-dpste-3"),
    Case("burgers", "paper:bo-fcresnet-2"),
    Case("lame", "paper:evo-dpste-1"),
    Case("lame", "paper:evo-dpste-2"),
    Case("lame", "paper:evo-dpste-3"),
    Case("lame", "paper:bo-fcresnet-1"),
)
"""The paper's points of each problem's first case."""

FEW_POINTS = Grid(interior=(12, 12), initial=11, boundary=22)

QUICK_CASES = (
    Case("klein-gordon", "layers=4 neurons=20 shortcuts=0-2 activation=a*asinh(x)*cos(b*x)", FEW_POINTS),
    Case("klein-gordon", "layers=4 neurons=20 activation=tanh(x)", FEW_POINTS),
)


@dataclass(frozen=True)
class Axis:
    """A size that is varied alone.

    Attributes:
        expected: The exponent that time should grow with.
        cases: The cases by size.
    """

    expected: float
    cases: Mapping[int, Case]


def by_points(*grids: tuple[int, int]) -> Axis:
    """Klein-Gordon on finer and finer grids."""
    points = [Grid(interior=grid, initial=81, boundary=162) for grid in grids]
    return Axis(1, {a * b: Case("klein-gordon", EVOLVED, p) for (a, b), p in zip(grids, points, strict=True)})


def by_neurons(*sizes: int) -> Axis:
    """Wider and wider networks."""
    return Axis(2, {size: _network(layers=6, neurons=size) for size in sizes})


def by_hidden_layers(*sizes: int) -> Axis:
    """Deeper and deeper networks."""
    return Axis(1, {size: _network(layers=size + 1, neurons=48) for size in sizes})


def _network(layers: int, neurons: int) -> Case:
    return Case("klein-gordon", f"layers={layers} neurons={neurons} activation=asinh(x)*cos(x)")


@dataclass(frozen=True)
class SearchLoad:
    """How much of a search is measured.

    Attributes:
        case: The problem, and the network whose training stands for all that are simulated.
        trainings: How many of the first generation are done with one worker and with two.
        epochs: Of a training.
        population: Of a simulated generation.
        evaluations: Of a long simulated run, at least.
    """

    case: Case
    trainings: int
    epochs: int
    population: int
    evaluations: int


@dataclass(frozen=True)
class Scope:
    """How much a benchmark measures.

    Attributes:
        cases: Networks for the comparison of contestants.
        axes: Sizes for scaling, by name.
        precise: Networks for float32 beside float64.
        largest: The network beside which L-BFGS is timed.
        second_order: Networks for steps of Levenberg-Marquardt.
        search: The work by which searches are timed.
        sections: The sections that are measured by default.
        memory: Number of steps that L-BFGS remembers.
    """

    cases: tuple[Case, ...]
    axes: Mapping[str, Axis]
    precise: tuple[Case, ...]
    largest: Case
    second_order: tuple[Case, ...]
    search: SearchLoad
    sections: tuple[str, ...]
    memory: int = 100


FULL = Scope(
    cases=CASES,
    axes=MappingProxyType(
        {
            "points": by_points((60, 60), (120, 120), (240, 240), (250, 400)),
            "neurons": by_neurons(16, 32, 64, 128),
            "hidden layers": by_hidden_layers(3, 6, 12),
        }
    ),
    precise=(
        Case("klein-gordon", EVOLVED),
        Case("klein-gordon", TANH),
        Case("burgers", "paper:evo-dpste-1"),
        Case("lame", "paper:evo-dpste-2"),
    ),
    largest=Case("klein-gordon", "layers=9 neurons=53 activation=tanh(x)"),  # 20,247 parameters
    second_order=(
        Case("klein-gordon", "layers=5 neurons=16 activation=asinh(x)*cos(x)"),  # 881 parameters
        Case("klein-gordon", "layers=5 neurons=25 activation=asinh(x)*cos(x)"),  # 2,051
        Case("lame", "layers=5 neurons=20 activation=x/(exp(x)+exp(-x))"),  # 1,362
        Case("klein-gordon", "layers=6 neurons=40 activation=asinh(x)*cos(x)"),  # 6,721: more than residuals
    ),
    # The first generation of a search of ten minutes, and a network of middle size for it: 6,099 parameters.
    search=SearchLoad(
        Case("klein-gordon", "layers=7 neurons=34 shortcuts=0-2 activation=a*asinh(x)*cos(b*x)"),
        trainings=32,
        epochs=41,
        population=1000,
        evaluations=100_000,
    ),
    sections=("engines", "scaling", "precision", "lbfgs", "lm"),  # `search` takes as long as these together
)

QUICK = Scope(
    cases=QUICK_CASES,
    axes=MappingProxyType({"points": by_points((10, 10), (20, 20))}),
    precise=QUICK_CASES[:1],
    largest=QUICK_CASES[0],
    second_order=QUICK_CASES[:1],
    search=SearchLoad(QUICK_CASES[0], trainings=4, epochs=2, population=100, evaluations=2000),
    sections=("engines",),  # a process of its own for each cell of the others takes its time
)
