"""The training loop."""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from evopinn.catalogue import find_problem
from evopinn.checks import MAX_SEED
from evopinn.engine import ENGINE_NAMES, EvaluationPlan, make_engine, read_numbers
from evopinn.errors import TrainingError
from evopinn.genome import DEFAULT_GENOME, STARTS, Genome, PublishedModel
from evopinn.network import Layout, initial_theta
from evopinn.problem import Problem
from evopinn.training.chain import find_optimiser
from evopinn.training.checkpoint import Checkpoint
from evopinn.training.cost import Work
from evopinn.training.duration import parse_duration
from evopinn.training.first_look import warnings_before
from evopinn.training.held_out import residual_sizes
from evopinn.training.history import Progress
from evopinn.training.last_layer import fit_last_layer
from evopinn.training.limits import Budgeted, BudgetExhausted, check_memory
from evopinn.training.optimiser import (
    Continuable,
    LeastSquares,
    Optimiser,
    State,
    continuable,
    describe_optimiser,
    kind_of,
)
from evopinn.training.recorder import Recorder
from evopinn.training.result import PRECISIONS, TrainingResult, predict
from evopinn.training.settings import (
    DEFAULT_EPOCHS,
    TrainingOptions,
    as_genome,
    lookup,
    positive_seconds,
    usual_optimiser,
    whole,
)
from evopinn.training.status import Status
from evopinn.training.warnings import issue


def train(
    problem: Problem | str,
    genome: Genome | PublishedModel | str = DEFAULT_GENOME,
    *,
    epochs: int = DEFAULT_EPOCHS,
    seed: int = 0,
    optimizer: str | Optimiser[Any] | None = None,
    time_limit: float | str | None = None,
    max_evaluations: int | None = None,
    errors_every: int = TrainingOptions.errors_every,
    precision: str = TrainingOptions.precision,
    device: str = TrainingOptions.device,
    engine: str = TrainingOptions.engine,
    on_progress: Callable[[Progress], None] | None = None,
    on_warning: Callable[[str], None] | None = issue,
    start: Checkpoint | None = None,
    on_end: Callable[[Checkpoint], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> TrainingResult:
    """Train a genome's network on a problem.

    However it ends (see `Status`), the result holds the parameters with the least loss seen. Ctrl-C ends it
    too, with the status "interrupted".

    Args:
        problem: The problem, or its name as the command line takes it.
        genome: The network, its text, or a published model such as "paper:evo-dpste-1"; no search space
            bounds it. By default a good small network.
        epochs: How many epochs at most, those of `start` included; one is one iteration of the optimiser on
            all points, or for "lm" and chains its equivalent in cost.
        seed: Seed of the initial parameters.
        optimizer: "lm", "lbfgs" (the paper's), "adam", a chain such as "adam:500+lm", or an optimiser with
            settings of your own. By default "lm", as in a search, and for a published model "lbfgs".
        time_limit: Time after which the training ends: seconds, or text such as "20s" or "10m". An evaluation
            that would end later, going by those before it, is not begun.
        max_evaluations: How many evaluations of loss and gradient are allowed in all.
        errors_every: The number of epochs between measurements of the errors, where a solution is known; they
            are measured at the end too.
        precision: "float64" or "float32".
        device: A torch device.
        engine: How derivatives are computed: "autograd", "taylor" or "fused", the same to rounding, or
            "auto".
        on_progress: Called after each epoch.
        on_warning: Called before the first step with each sentence that warns of a poor solution, such as
            fewer residuals than parameters; by default it issues a `TrainingWarning`. None looks for none.
        start: Continue from this checkpoint instead of from initial parameters: with the same genome,
            optimiser and precision, on the same points or others. Epochs, losses and the best parameters are
            carried on; limits, evaluations, seconds and measured errors are those of this call. The losses of
            other points stay in the history, but the best parameters are judged by the points of now.
        on_end: Called once at the end with the checkpoint of the last state, if that is finite.
        clock: Gives the time in seconds.

    Examples:
        >>> train("euler-bernoulli", "layers=3 neurons=20 activation=tanh(x)", epochs=5).status
        <Status.FINISHED: 'finished'>
    """
    began = clock()
    problem = _as_problem(problem)
    chosen = find_optimiser(usual_optimiser(genome) if optimizer is None else optimizer)
    genome = as_genome(genome, problem.name)
    limit = math.inf if time_limit is None else positive_seconds(parse_duration(time_limit))
    epochs, seed = whole("epochs", epochs, least=0), whole("seed", seed, least=0, most=MAX_SEED)
    evaluations = math.inf if max_evaluations is None else whole("max_evaluations", max_evaluations, least=1)
    dtype = lookup("precision", precision, PRECISIONS)
    described = describe_optimiser(chosen)
    size = Layout.of(genome, problem).size
    check_memory(genome, size, dtype)
    if start is not None:
        start.require_fit(described["name"], str(genome), size, dtype)
    if start is not None or on_end is not None:
        continuable(chosen)
    engine = lookup("engine", engine, {name: name for name in ENGINE_NAMES})
    remaining = max(epochs - (0 if start is None else start.epochs[-1]), 0)
    # A line search now and then tries a step twice.
    planned = min(evaluations, 1.25 * remaining + 1)
    evaluator = make_engine(engine, problem, genome, dtype, _usable_device(device), planned)
    work = Work.of(genome, EvaluationPlan.of(problem.terms(), genome.structure.neurons).size)
    objective = Budgeted(evaluator, clock, began + limit, evaluations, work)
    recorder = Recorder(
        errors=lambda theta: problem.errors(
            lambda points: predict(genome, evaluator.layout, theta, points, problem.scales)
        ),
        errors_every=whole("errors_every", errors_every, least=1),
        epochs=epochs,
        report=on_progress or _ignore,
        elapsed=lambda: clock() - began,
        losses=() if start is None else start.losses,
        spent=() if start is None else start.epochs,
    )
    if start is None:
        theta, loss = initial_theta(genome, problem, seed, dtype).to(device), math.nan
        look = partial(_look, on_warning, problem, genome)
        fitted = STARTS[genome.start.kind].is_fitted
        fit = partial(fit_last_layer, objective, evaluator.layout) if fitted else None
        begin = partial(_begun, look, chosen, objective, theta, recorder, fit)
    else:
        theta, loss = start.best_theta.to(device), start.best_loss
        begin = partial(_resumed, continuable(chosen), objective, start.to(device), recorder)
    status = optimise(chosen, objective, begin, epochs, recorder)
    best = recorder.best or State(theta, loss, torch.zeros_like(theta))
    if status is Status.CONVERGED and not objective.ended_finite:
        status = _converged(*read_numbers(evaluator.loss_and_gradient(best.theta)[0]))
    asked = status is not Status.INTERRUPTED
    try:
        if on_end is not None and (ended := _ended(continuable(chosen), genome, best, recorder, start)):
            on_end(ended)
        errors = recorder.errors_of(best.theta)
        # The reason for the interrupt may be a residual that never returns, so it is not evaluated again.
        residuals = residual_sizes(problem, genome, evaluator, best.theta) if asked else {}
    except KeyboardInterrupt:  # the training is not lost for a second Ctrl-C
        status, errors, residuals = Status.INTERRUPTED, dict[str, float](), dict[str, float]()
    return TrainingResult(
        problem=problem.name,
        coordinates=problem.axes,
        fields=tuple(problem.fields),
        genome=genome,
        theta=best.theta.cpu(),
        loss=best.loss,
        errors=errors,
        status=status,
        epochs=recorder.epoch,
        evaluations=objective.used,
        seconds=clock() - began,
        seed=seed,
        optimizer=described["name"],
        history=recorder.history(),
        residuals=residuals,
        scales=problem.scales,
        settings={
            "epochs": epochs,
            "optimizer": described,
            "time_limit": time_limit,
            "max_evaluations": max_evaluations,
            "errors_every": errors_every,
            "precision": precision,
            "device": device,
            "engine": evaluator.name,
            "threads": torch.get_num_threads(),
            "start_epoch": 0 if start is None else start.epoch,
            "remark": "" if recorder.last is None else recorder.last.remark,
        },
    )


def optimise(
    optimizer: Optimiser[Any],
    objective: LeastSquares,
    begin: Callable[[], State],
    epochs: int,
    recorder: Recorder,
) -> Status:
    """Step until an ending is reached.

    Args:
        optimizer: The optimiser.
        objective: From θ to loss and gradient; may raise `BudgetExhausted`.
        begin: Evaluates and records where to start.
        epochs: The maximum number of epochs; a step that would go past them, if it costs as much as the one
            before it, is not begun.
        recorder: Takes in the state after each step, and knows the epochs that were spent.
    """
    try:
        state = begin()
        while recorder.spent + state.cost <= epochs:
            if not recorder.finite:
                return Status.NOT_FINITE
            if state.converged:
                return Status.CONVERGED
            state = optimizer.step(objective, state)
            recorder(state)
        status = Status.FINISHED
    except BudgetExhausted as exhausted:
        status = exhausted.status
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    recorder.settle()
    # Infinity or not-a-number, loss or gradient: which of them it is depends on the order of operations in
    # the engine, so they are one status.
    return status if recorder.finite or status is Status.INTERRUPTED else Status.NOT_FINITE


def _as_problem(problem: Problem | str) -> Problem:
    """The problem itself, from an object or a name."""
    if isinstance(problem, str):
        return find_problem(problem)
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TrainingError(f"problem is a {type(problem).__name__}; give a Problem or a name like 'heat'.")
    return problem


def _usable_device(device: str) -> str:
    """The device, if it exists here and can compute."""
    try:
        float(torch.zeros(1, device=device))
    except (RuntimeError, AssertionError, TypeError) as error:  # which one depends on how torch was built
        raise TrainingError(f"the device {device!r} cannot be used here; try cpu. ({error})") from error
    return device


def _look(on_warning: Callable[[str], None] | None, problem: Problem, genome: Genome) -> None:
    """Tell what to warn about, if anybody listens."""
    if on_warning is not None:
        for sentence in warnings_before(problem, genome):
            on_warning(sentence)


def _begun(
    look: Callable[[], None],
    optimizer: Optimiser[Any],
    objective: LeastSquares,
    theta: Tensor,
    recorder: Recorder,
    fit: Callable[[Tensor], tuple[Tensor, float]] | None,
) -> State:
    """The first state from initial parameters, which may be fitted first."""
    look()
    if fit is not None:
        theta, cost = fit(theta)
        recorder.initial_cost = cost if kind_of(optimizer).spends_by_cost else 0.0
    state = optimizer.init(objective, theta)
    recorder(state)
    return state


def _resumed(
    optimizer: Continuable[Any], objective: LeastSquares, start: Checkpoint, recorder: Recorder
) -> State:
    """The first state from the end of another training."""
    state = optimizer.resume(objective, start.state)
    recorder.resume(state)
    theta, loss = start.best_theta, start.best_loss
    if not torch.equal(theta, state.theta):
        if state.loss != start.losses[-1]:  # the objective is another, by which the best is judged as well
            (loss,) = read_numbers(objective(theta)[0])
        recorder.consider(State(theta, loss, torch.zeros_like(theta)))
    return state


def _ended(
    optimizer: Continuable[Any], genome: Genome, best: State, recorder: Recorder, start: Checkpoint | None
) -> Checkpoint | None:
    """The checkpoint of the end of a training, if another can continue from it."""
    if recorder.last is None:  # there was no time to begin
        return start
    if not recorder.finite:
        return None
    return Checkpoint(
        optimizer=describe_optimiser(optimizer)["name"],
        genome=str(genome),
        state=optimizer.state_tensors(recorder.last),
        best_theta=best.theta,
        best_loss=best.loss,
        losses=recorder.losses,
        epochs=recorder.epochs,
    ).to("cpu")


def _converged(loss_again: float) -> Status:
    """The status of a training whose last steps all led to non-finite losses, by the loss before them.

    A step may go too far. But a residual that is not-a-number from some moment on, wherever it is evaluated,
    lets no step improve the loss either, and nothing has converged then.
    """
    return Status.CONVERGED if math.isfinite(loss_again) else Status.NOT_FINITE


def _ignore(progress: Progress) -> None:
    """Ignore a progress report."""
