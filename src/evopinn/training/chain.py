"""Chains of optimisers, and optimisers by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from evopinn.errors import TrainingError
from evopinn.training.optimiser import Continuable, LeastSquares, Optimiser, State, kind_of, require_objective
from evopinn.training.optimiser_table import CHAIN, OPTIMISERS, NamedChain, OptimiserKind, parse_optimiser

INNER = "inner."
"""The prefix of the tensors of a stage's own state."""


@dataclass(frozen=True)
class ChainStage:
    """A part of a chain.

    Attributes:
        optimizer: Its optimiser.
        epochs: Its number of epochs; without one, it ends when it has converged.
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
    """Optimisers in sequence: each begins where the one before it ended.

    First-order steps count by their cost too, so that all stages spend in one unit.

    Attributes:
        name: Its text form, such as "adam:500+lm".
        stages: The stages; only the last may have all epochs that are left.
    """

    name: str
    stages: tuple[ChainStage, ...]

    kind: ClassVar[OptimiserKind] = CHAIN

    def __post_init__(self) -> None:
        if not self.stages:
            raise TrainingError("a chain of optimisers needs at least one; write for example adam:500+lm.")

    def init(self, objective: LeastSquares, theta: Tensor) -> ChainState:
        """The state at the start."""
        require_objective(self.kind, objective)
        return self._begun(objective, 0, theta)

    def step(self, objective: LeastSquares, state: ChainState) -> ChainState:
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

    def resume(self, objective: LeastSquares, tensors: Mapping[str, Tensor]) -> ChainState:
        """The state that these tensors describe, evaluated anew."""
        number = int(tensors["stage"])
        own = {name.removeprefix(INNER): tensors[name] for name in tensors if name.startswith(INNER)}
        inner = self.stages[number].optimizer.resume(objective, own)
        return _of(inner, self._cost(objective, number, inner), number, float(tensors["spent"]))

    def _begun(self, objective: LeastSquares, number: int, theta: Tensor) -> ChainState:
        inner = self.stages[number].optimizer.init(objective, theta)
        return _of(inner, self._cost(objective, number, inner), number, 0.0)

    def _cost(self, objective: LeastSquares, number: int, inner: State) -> float:
        by_cost = kind_of(self.stages[number].optimizer).spends_by_cost
        return inner.cost if by_cost else objective.work.gradient


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


def find_optimiser(name: str | Optimiser[Any], rate: float | None = None) -> Optimiser[Any]:
    """An optimiser by name, with its own learning rate or another; an optimiser itself is returned unchanged.

    Names may be chained, each but the last with its epochs or until it has converged: "adam:500+lm".
    """
    if isinstance(name, str):
        named = parse_optimiser(name)
        if isinstance(named, NamedChain):
            return Chain(
                name, tuple(ChainStage(stage.kind.make(rate), stage.epochs) for stage in named.stages)
            )
        if rate is not None and not named.takes_rate:
            raise TrainingError(f"{named.name} takes no learning rate, but {rate:g} was given; leave it out.")
        return named.make(rate)
    if isinstance(name, type) or not (hasattr(name, "init") and hasattr(name, "step")):
        raise TrainingError(
            f"optimizer is {name!r}; give {' or '.join(OPTIMISERS)}, or an optimiser such as Adam(rate=0.01)."
        )
    return name
