"""One optimiser after another."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from evopinn.errors import TrainingError
from evopinn.training.levenberg import LM, least_squares
from evopinn.training.optimizer import Continuable, Objective, State

INNER = "inner."
"""What the names of the tensors of a stage's own state begin with."""


@dataclass(frozen=True)
class Stage:
    """A part of a chain.

    Attributes:
        optimizer: What works in it.
        epochs: How many epochs it has; without, it ends when it has converged.
    """

    optimizer: Continuable[Any]
    epochs: int | None = None


@dataclass(frozen=True, eq=False)
class ChainState(State):
    """The state of a chain.

    Attributes:
        stage: The number of the stage.
        spent: Epochs spent in it.
        inner: The state of its optimiser.
    """

    stage: int = 0
    spent: float = 0.0
    inner: State = field(kw_only=True)


@dataclass(frozen=True)
class Chain:
    """Optimisers that follow one another, each from where the one before has come to.

    Steps of first order count for what they cost too, so that all stages spend in one unit.

    Attributes:
        name: As it is written: "adam:500+lm".
        stages: The stages; only the last may have all epochs that are left.
    """

    name: str
    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        if not self.stages:
            raise TrainingError("a chain of optimisers needs at least one; write such as adam:500+lm.")

    def init(self, objective: Objective, theta: Tensor) -> ChainState:
        """The state at the start."""
        return self._begun(objective, 0, theta)

    def step(self, objective: Objective, state: ChainState) -> ChainState:
        """The state after one more step; of the next stage, if this one is over."""
        stage = self.stages[state.stage]
        inner = stage.optimizer.step(objective, state.inner)
        cost = self._cost(objective, state.stage, inner)
        following = _of(inner, cost, state.stage, state.spent + cost)
        over = stage.epochs is not None and following.spent + cost > stage.epochs
        if state.stage + 1 == len(self.stages) or not (over or inner.converged):
            return following
        return replace(self._begun(objective, state.stage + 1, inner.theta), cost=cost)

    def state_tensors(self, state: ChainState) -> dict[str, Tensor]:
        """The state as tensors by name."""
        inner = self.stages[state.stage].optimizer.state_tensors(state.inner)
        own = {"stage": torch.tensor(state.stage), "spent": torch.tensor(state.spent, dtype=torch.float64)}
        return own | {f"{INNER}{name}": tensor for name, tensor in inner.items()}

    def resume(self, objective: Objective, tensors: Mapping[str, Tensor]) -> ChainState:
        """The state that `state_tensors` was asked of, evaluated anew."""
        number = int(tensors["stage"])
        own = {name.removeprefix(INNER): tensors[name] for name in tensors if name.startswith(INNER)}
        inner = self.stages[number].optimizer.resume(objective, own)
        return _of(inner, self._cost(objective, number, inner), number, float(tensors["spent"]))

    def _begun(self, objective: Objective, number: int, theta: Tensor) -> ChainState:
        inner = self.stages[number].optimizer.init(objective, theta)
        return _of(inner, self._cost(objective, number, inner), number, 0.0)

    def _cost(self, objective: Objective, number: int, inner: State) -> float:
        charged = isinstance(self.stages[number].optimizer, LM)
        return inner.cost if charged else least_squares(objective).work.gradient


def _of(inner: State, cost: float, stage: int, spent: float) -> ChainState:
    """A chain's state from that of its stage."""
    return ChainState(
        inner.theta,
        inner.loss,
        inner.gradient,
        inner.converged,
        stage,
        spent,
        inner=inner,
        cost=cost,
        remark=inner.remark,
        unread=inner.unread,
    )
