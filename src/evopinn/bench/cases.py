"""What is timed: networks on problems, as data, with the speed that is aimed at."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from evopinn.genome import Genome, find_published, is_published
from evopinn.problem import Grid, Problem
from evopinn.problems import find_problem


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
    """How many times faster than nested autograd an engine ought to be.

    Attributes:
        evolved: On evolved activations.
        tanh: On tanh, whose nested derivatives are cheap.
    """

    evolved: float
    tanh: float

    def of(self, case: Case) -> float:
        """What holds for a case."""
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
