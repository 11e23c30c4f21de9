"""The findings of a benchmark as data, and the limits that they are held to."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evopinn.lab.bench.cases import TARGETS, Case
from evopinn.lab.bench.contestants import BASELINE

MEMORY_LIMIT = 10**9
FLOAT32_TARGET = 1.5
OPTIMIZER_LIMIT = 0.1
STEP_LIMIT = 2.5
SPEEDUP_TARGET = 1.85
DRIVER_LIMIT = 0.02
GROWTH_LIMIT = 20 * 10**6
SHOW_LIMIT = 1.0


@dataclass(frozen=True)
class Timing:
    """How long a contestant takes for a loss and gradient.

    Attributes:
        seconds: The median; None if there is nothing to time.
        setup: Seconds from nothing to the first result, less one evaluation: compilation, mostly.
        note: Why there is nothing to time.
    """

    seconds: float | None = None
    setup: float | None = None
    note: str = ""


@dataclass(frozen=True)
class CaseTimings:
    """All contestants on one case."""

    case: Case
    timings: Mapping[str, Timing]

    def ratio(self, contestant: str) -> float | None:
        """How many times faster than the baseline."""
        base, other = self.timings[BASELINE].seconds, self.timings[contestant].seconds
        return None if base is None or other is None else base / other

    def target(self, contestant: str) -> float | None:
        """How many times faster it ought to be, if anything was promised."""
        return TARGETS[contestant].of(self.case) if contestant in TARGETS else None

    def shortfall(self, contestant: str) -> float | None:
        """By which part of the target it is missed; 0 if it is met."""
        ratio, target = self.ratio(contestant), self.target(contestant)
        return None if ratio is None or target is None else max(0.0, 1 - ratio / target)

    def data(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "problem": self.case.problem,
            "network": str(self.case.genome),
            "evolved": self.case.evolved,
            "timings": {
                name: asdict(timing)
                | {
                    "ratio": self.ratio(name),
                    "target": self.target(name),
                    "shortfall": self.shortfall(name),
                }
                for name, timing in self.timings.items()
            },
        }


@dataclass(frozen=True)
class ScalePoint:
    """One size of a scaling.

    Attributes:
        size: Points, neurons or hidden layers.
        seconds: The median of an evaluation.
        peak: Bytes at the worst moment, beyond what imports take.
    """

    size: int
    seconds: float
    peak: int


@dataclass(frozen=True)
class Scaling:
    """How an engine's time grows with one size, the others fixed."""

    engine: str
    axis: str
    expected: float
    cells: Sequence[ScalePoint]

    @property
    def exponent(self) -> float:
        """The power p of the law seconds = c·sizeᵖ that fits best."""
        sizes, seconds = (
            np.log([getattr(cell, name) for cell in self.cells]) for name in ("size", "seconds")
        )
        return float(np.polyfit(sizes, seconds, 1)[0])

    def data(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"exponent": self.exponent}


@dataclass(frozen=True)
class Precision:
    """An engine in double and in single precision."""

    engine: str
    case: Case
    float64: float
    float32: float

    @property
    def ratio(self) -> float:
        """How many times faster single precision is."""
        return self.float64 / self.float32

    def data(self) -> dict[str, Any]:
        """Plain data."""
        network = {"problem": self.case.problem, "network": str(self.case.genome), "engine": self.engine}
        times = {"float64": self.float64, "float32": self.float32}
        return network | times | {"ratio": self.ratio, "target": FLOAT32_TARGET}


@dataclass(frozen=True)
class OptimizerCost:
    """The share of L-BFGS itself in a step.

    Attributes:
        engine: What evaluates.
        parameters: Length of θ.
        memory: How many steps are remembered.
        own: Seconds a step without evaluations.
        evaluation: Seconds of one evaluation.
    """

    engine: str
    parameters: int
    memory: int
    own: float
    evaluation: float

    @property
    def share(self) -> float:
        """The optimiser's part of a step with one evaluation."""
        return self.own / (self.own + self.evaluation)

    def data(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"share": self.share, "limit": OPTIMIZER_LIMIT}


@dataclass(frozen=True)
class StepCost:
    """The time of a step of Levenberg-Marquardt and of its parts, in seconds.

    Attributes:
        case: The problem and network.
        parameters: Columns of J.
        rows: Rows of J: residuals.
        product: The bare product JᵀJ, as one call of a library.
        jacobian: Residuals and J.
        gram: The half of JᵀJ that is needed.
        factor: A damped problem, factorised.
        residuals: The residuals alone, of which a trial takes two.
        trials: Dampings that a step tries.
        step: All of it.
    """

    case: Case
    parameters: int
    rows: int
    product: float
    jacobian: float
    gram: float
    factor: float
    residuals: float
    trials: float
    step: float

    @property
    def ratio(self) -> float:
        """A step in units of the bare product."""
        return self.step / self.product

    def data(self) -> dict[str, Any]:
        """Plain data."""
        network = {"problem": self.case.problem, "network": str(self.case.genome)}
        figures = {name: value for name, value in vars(self).items() if name != "case"}
        return network | figures | {"ratio": self.ratio, "limit": STEP_LIMIT}


@dataclass(frozen=True)
class Throughput:
    """The same trainings with one worker and with two.

    Attributes:
        trainings: How many.
        one: Seconds of each round with one worker.
        two: Seconds of each round with two, in the same order.
    """

    trainings: int
    one: Sequence[float]
    two: Sequence[float]

    @property
    def speedup(self) -> float:
        """How many times more evaluations two workers do in the same time: the median of the rounds."""
        return statistics.median(one / two for one, two in zip(self.one, self.two, strict=True))

    @property
    def interval(self) -> float:
        """Seconds from one evaluation to the next with two workers."""
        return statistics.median(self.two) / self.trainings

    def data(self) -> dict[str, Any]:
        """Plain data."""
        figures = {"speedup": self.speedup, "interval": self.interval}
        return {"measure": "throughput"} | asdict(self) | figures | {"target": SPEEDUP_TARGET}


@dataclass(frozen=True)
class DriverCost:
    """The time that the driver's process takes for a generation: search, driver and store, without workers.

    Attributes:
        evaluations: Of the generation and the final ones.
        cpu: Seconds of work for each.
        wall: Seconds on the clock for each: the same, and waiting for the disk.
        interval: Seconds from one real evaluation to the next with two workers.
    """

    evaluations: int
    cpu: float
    wall: float
    interval: float

    @property
    def share(self) -> float:
        """The share of the wall time of a real generation."""
        return self.wall / self.interval

    def data(self) -> dict[str, Any]:
        """Plain data."""
        return {"measure": "driver"} | asdict(self) | {"share": self.share, "limit": DRIVER_LIMIT}


@dataclass(frozen=True)
class LongRun:
    """A run of many simulated evaluations.

    Attributes:
        evaluations: How many.
        seconds: That they took.
        early: Bytes of the driver's resident memory after a tenth of them.
        late: Bytes at the end.
        show: Seconds that `evopinn show` takes on the run.
    """

    evaluations: int
    seconds: float
    early: int
    late: int
    show: float

    @property
    def growth(self) -> int:
        """Growth of the driver's memory in bytes."""
        return self.late - self.early

    @property
    def rate(self) -> float:
        """Evaluations recorded each second."""
        return self.evaluations / self.seconds

    def data(self) -> dict[str, Any]:
        """Plain data."""
        figures = {"growth": self.growth, "rate": self.rate}
        limits = {"growth_limit": GROWTH_LIMIT, "show_limit": SHOW_LIMIT}
        return {"measure": "long run"} | asdict(self) | figures | limits
