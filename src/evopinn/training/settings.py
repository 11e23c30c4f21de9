"""Checking what a user asks of a training."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

import torch

from evopinn.checks import MOST, shown, whole_number
from evopinn.errors import TrainingError, UnknownNameError
from evopinn.genome import Genome, PublishedModel, find_published, is_published
from evopinn.problem import Problem
from evopinn.problems import find_problem
from evopinn.training.adam import Adam
from evopinn.training.chain import Chain, Stage
from evopinn.training.lbfgs import LBFGS
from evopinn.training.levenberg import LM
from evopinn.training.optimizer import Continuable, Optimizer

OPTIMIZERS: Mapping[str, Callable[..., Continuable[Any]]] = {"lbfgs": LBFGS, "adam": Adam, "lm": LM}
PRECISIONS: Mapping[str, torch.dtype] = {"float64": torch.float64, "float32": torch.float32}

T = TypeVar("T")


def find_optimizer(name: str | Optimizer[Any], rate: float | None = None) -> Optimizer[Any]:
    """An optimiser by name, with its own learning rate or another; an optimiser itself is taken as it is.

    Names may be chained, each but the last with its epochs or until it has converged: "adam:500+lm".
    """
    if isinstance(name, str):
        if "+" in name or ":" in name:
            stages = tuple(_stage(part, rate) for part in name.split("+"))
            return Chain(name, stages)
        return _single(name, rate)
    if isinstance(name, type) or not (hasattr(name, "init") and hasattr(name, "step")):
        raise TrainingError(
            f"optimizer is {name!r}; give {' or '.join(OPTIMIZERS)}, or an optimiser such as Adam(rate=0.01)."
        )
    return name


def _single(name: str, rate: float | None) -> Continuable[Any]:
    make = lookup("optimizer", name, OPTIMIZERS)
    if rate is None:
        return make()
    if make is LM:
        raise TrainingError(f"a learning rate of {rate:g} was given; lm finds its steps without one.")
    return make(rate=rate)


def _stage(text: str, rate: float | None) -> Stage:
    name, colon, epochs = text.strip().partition(":")
    # A rate is meant for those that have one.
    optimizer = _single(name, None if name == "lm" else rate)
    if not colon:
        return Stage(optimizer)
    if not (epochs.isascii() and epochs.isdigit() and len(epochs) < 16 and int(epochs)):
        raise TrainingError(
            f"optimizer has the stage {shown(text)}; write a name and a number of epochs such as adam:500."
        )
    return Stage(optimizer, int(epochs))


def spends_by_cost(optimizer: str) -> bool:
    """Whether steps count for what they cost, so that a number of epochs limits a training by itself."""
    return isinstance(find_optimizer(optimizer), LM | Chain)


def continuable(optimizer: Optimizer[Any]) -> Continuable[Any]:
    """An optimiser whose states can be put away and gone on from."""
    if not isinstance(optimizer, Continuable):
        raise TrainingError(
            f"{type(optimizer).__name__} has no `state_tensors` and `resume`, which start and on_end need; "
            "add them or leave these out."
        )
    return optimizer


def describe_optimizer(optimizer: Optimizer[Any]) -> dict[str, Any]:
    """An optimiser's name and settings as plain data."""
    settings = asdict(optimizer) if is_dataclass(optimizer) and not isinstance(optimizer, type) else {}
    return {"name": type(optimizer).__name__.lower(), **settings}  # a chain has a name of its own


def as_problem(problem: Problem | str) -> Problem:
    """The problem that is meant, by itself or by name."""
    if isinstance(problem, str):
        return find_problem(problem)
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TrainingError(f"problem is a {type(problem).__name__}; give a Problem or a name like 'heat'.")
    return problem


def as_genome(genome: Genome | PublishedModel | str, problem: str) -> Genome:
    """The genome that is meant: by itself, by its text, or as a published model of a problem's family."""
    if isinstance(genome, str) and is_published(genome):
        genome = find_published(genome, problem.partition(":")[0])
    if isinstance(genome, PublishedModel):
        return genome.genome
    if isinstance(genome, str):
        return Genome.parse(genome)
    if not isinstance(genome, Genome):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TrainingError(
            f"genome is a {type(genome).__name__}; give a Genome or its text, "
            "such as 'layers=3 neurons=20 activation=tanh(x)'."
        )
    return genome


def whole(name: str, value: int, least: int, most: int = MOST) -> int:
    """A whole number that is neither too small nor too large."""
    number = whole_number(value)
    if number is None or number < least:
        raise TrainingError(f"{name} is {shown(value)}; it must be a whole number of at least {least}.")
    if number > most:
        raise TrainingError(f"{name} is {shown(value)}; it must be a whole number of at most {most:,}.")
    return number


def positive_seconds(limit: float) -> float:
    """A time limit that leaves time."""
    if not limit > 0:
        raise TrainingError(f"time_limit is {limit!r}; it must be a positive number of seconds.")
    return limit


def usable_device(device: str) -> str:
    """A device that exists here and can compute."""
    try:
        float(torch.zeros(1, device=device))
    except (RuntimeError, AssertionError, TypeError) as error:  # which one depends on how torch was built
        raise TrainingError(f"the device {device!r} cannot be used here; try cpu. ({error})") from error
    return device


def lookup(kind: str, name: str, table: Mapping[str, T]) -> T:
    """What a table has under a name; otherwise say what it has."""
    if not isinstance(name, str) or name not in table:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UnknownNameError(kind, str(name), table, f"There are {', '.join(table)}.")
    return table[name]
