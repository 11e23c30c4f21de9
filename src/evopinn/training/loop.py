"""The one training loop."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

from evopinn.engine import AutogradEngine
from evopinn.errors import TrainingError, UnknownNameError
from evopinn.genome import Genome
from evopinn.network import initial_parameters
from evopinn.problem import Problem
from evopinn.training.adam import Adam
from evopinn.training.budget import Budgeted, BudgetExhausted
from evopinn.training.duration import parse_duration
from evopinn.training.lbfgs import LBFGS
from evopinn.training.optimizer import Objective, Optimizer, State
from evopinn.training.result import History, TrainingResult, predict
from evopinn.training.status import Status

T = TypeVar("T")

OPTIMIZERS: Mapping[str, Callable[..., Optimizer[Any]]] = {"lbfgs": LBFGS, "adam": Adam}
PRECISIONS: Mapping[str, torch.dtype] = {"float64": torch.float64, "float32": torch.float32}


@dataclass(frozen=True)
class Progress:
    """What is known after an epoch.

    Attributes:
        epoch: Epochs trained so far.
        epochs: Epochs planned.
        loss: The loss now.
        errors: The latest measured errors.
        seconds: Time since the start.
    """

    epoch: int
    epochs: int
    loss: float
    errors: Mapping[str, float]
    seconds: float


def train(
    problem: Problem,
    genome: Genome | str,
    *,
    epochs: int = 1000,
    seed: int = 0,
    optimizer: str | Optimizer[Any] = "lbfgs",
    time_limit: float | str | None = None,
    max_evaluations: int | None = None,
    errors_every: int = 100,
    precision: str = "float64",
    device: str = "cpu",
    on_progress: Callable[[Progress], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> TrainingResult:
    """Train a genome's network on a problem.

    However it ends (see `Status`), the result holds the parameters with the least loss seen. Ctrl-C ends it
    too, with the status "interrupted".

    Args:
        problem: The problem.
        genome: The network, or its text.
        epochs: How many epochs at most; one is one iteration of the optimiser on all points.
        seed: Seed of the initial parameters.
        optimizer: "lbfgs" (the paper's) or "adam", or an optimiser with settings of your own.
        time_limit: Time after which the training ends: seconds, or text such as "20s" or "10m".
        max_evaluations: How many evaluations of loss and gradient are allowed in all.
        errors_every: Errors are measured after so many epochs, where a solution is known, and at the end.
        precision: "float64" or "float32".
        device: A torch device.
        on_progress: Called after each epoch.
        clock: Gives the time in seconds.

    Example:
        >>> from evopinn.problems import find_problem
        >>> genome = "layers=3 neurons=20 activation=tanh(x)"
        >>> train(find_problem("euler-bernoulli"), genome, epochs=5).status
        <Status.FINISHED: 'finished'>
    """
    began = clock()
    if isinstance(genome, str):
        genome = Genome.parse(genome)
    limit = math.inf if time_limit is None else parse_duration(time_limit)
    _check(epochs, seed, limit, max_evaluations, errors_every)
    dtype = _lookup("precision", precision, PRECISIONS)
    _check_device(device)
    chosen = find_optimizer(optimizer) if isinstance(optimizer, str) else optimizer
    engine = AutogradEngine(problem, genome, dtype, device)
    objective = Budgeted(
        engine.loss_and_gradient,
        clock,
        began + limit,
        math.inf if max_evaluations is None else max_evaluations,
    )
    recorder = Recorder(
        errors=lambda theta: problem.errors(lambda points: predict(genome, engine.layout, theta, points)),
        errors_every=errors_every,
        epochs=epochs,
        report=on_progress or _ignore,
        elapsed=lambda: clock() - began,
    )
    theta = initial_parameters(engine.layout, seed, dtype).to(device)
    status = optimise(chosen, objective, theta, epochs, recorder)
    best = recorder.best or State(theta, math.nan, torch.zeros_like(theta))
    recorder.measure(recorder.epoch, best)
    return TrainingResult(
        problem=problem.name,
        coordinates=problem.axes,
        fields=tuple(problem.fields),
        genome=genome,
        theta=best.theta.cpu(),
        loss=best.loss,
        errors=recorder.latest,
        status=status,
        epochs=recorder.epoch,
        evaluations=objective.used,
        seconds=clock() - began,
        seed=seed,
        optimizer=type(chosen).__name__.lower(),
        history=recorder.history(),
    )


def find_optimizer(name: str, rate: float | None = None) -> Optimizer[Any]:
    """An optimiser by name, with its own learning rate or another."""
    make = _lookup("optimizer", name, OPTIMIZERS)
    if rate is None:
        return make()
    if not 0 < rate < math.inf:
        raise TrainingError(f"the learning rate is {rate}; it must be a positive number.")
    return make(rate=rate)


def optimise(
    optimizer: Optimizer[Any],
    objective: Objective,
    theta: Tensor,
    epochs: int,
    record: Callable[[State], None],
) -> Status:
    """Step until an ending is reached.

    Args:
        optimizer: The optimiser.
        objective: From θ to loss and gradient; may raise `BudgetExhausted`.
        theta: The start.
        epochs: How many epochs at most.
        record: Called with the state at the start and after each epoch.
    """
    try:
        state = optimizer.init(objective, theta)
        record(state)
        for _ in range(epochs):
            if failure := _failure(state):
                return failure
            if state.converged:
                return Status.CONVERGED
            state = optimizer.step(objective, state)
            record(state)
        return _failure(state) or Status.FINISHED
    except BudgetExhausted as exhausted:
        return exhausted.status
    except KeyboardInterrupt:
        return Status.INTERRUPTED


class Recorder:
    """Keeps the course of a training and its best state.

    Args:
        errors: Measures the errors at θ.
        errors_every: After how many epochs.
        epochs: Epochs planned.
        report: Told of each epoch.
        elapsed: Gives the seconds since the start.
    """

    def __init__(
        self,
        errors: Callable[[Tensor], dict[str, float]],
        errors_every: int,
        epochs: int,
        report: Callable[[Progress], None],
        elapsed: Callable[[], float],
    ) -> None:
        self.best: State | None = None
        self.latest: dict[str, float] = {}
        self._losses: list[float] = []
        self._measured: dict[int, dict[str, float]] = {}
        self._errors = errors
        self._errors_every = errors_every
        self._epochs = epochs
        self._report = report
        self._elapsed = elapsed

    def __call__(self, state: State) -> None:
        """Take in the state after an epoch."""
        self._losses.append(state.loss)
        if self.best is None or state.loss < self.best.loss:
            self.best = state
        if self.epoch % self._errors_every == 0:
            self.measure(self.epoch, state)
        self._report(Progress(self.epoch, self._epochs, state.loss, self.latest, self._elapsed()))

    @property
    def epoch(self) -> int:
        """Epochs trained so far."""
        return max(len(self._losses) - 1, 0)

    def measure(self, epoch: int, state: State) -> None:
        """Measure the errors of a state."""
        self.latest = self._errors(state.theta)
        if self.latest:
            self._measured[epoch] = self.latest

    def history(self) -> History:
        """The course so far."""
        fields = {name: tuple(each[name] for each in self._measured.values()) for name in self.latest}
        return History(tuple(self._losses), tuple(self._measured), fields)


def _failure(state: State) -> Status | None:
    """What is not a number any more, if anything."""
    if failure := Status.of_loss(state.loss):
        return failure
    if not torch.isfinite(state.gradient).all():
        return Status.NOT_A_NUMBER if torch.isnan(state.gradient).any() else Status.OVERFLOW
    return None


def _ignore(progress: Progress) -> None:
    """Report to nobody."""


def _lookup(kind: str, name: str, table: Mapping[str, T]) -> T:
    if name not in table:
        raise UnknownNameError(kind, name, table, f"There are {', '.join(table)}.")
    return table[name]


def _check(epochs: int, seed: int, time_limit: float, max_evaluations: int | None, errors_every: int) -> None:
    """Refuse settings that make no sense."""
    limits = {"epochs": (epochs, 0), "seed": (seed, 0), "errors_every": (errors_every, 1)}
    if max_evaluations is not None:
        limits["max_evaluations"] = (max_evaluations, 1)
    for name, (value, least) in limits.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < least:  # pyright: ignore
            raise TrainingError(f"{name} is {value!r}; it must be a whole number of at least {least}.")
    if not time_limit > 0:
        raise TrainingError(f"time_limit is {time_limit!r}; it must be a positive number of seconds.")


def _check_device(device: str) -> None:
    """Refuse a device that does not exist here."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:  # what torch raises depends on how it was built
        raise TrainingError(f"the device {device!r} cannot be used here; try cpu. ({error})") from error
