"""Keeping the course of a training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor

from evopinn.training.optimizer import State
from evopinn.training.result import History


@dataclass(frozen=True)
class Progress:
    """What is known after an epoch.

    Attributes:
        epoch: Epochs trained so far.
        epochs: Epochs planned.
        loss: The loss now.
        errors: The latest measured errors.
        errors_epoch: The epoch that they were measured after.
        seconds: Time since the start.
    """

    epoch: int
    epochs: int
    loss: float
    errors: Mapping[str, float]
    errors_epoch: int
    seconds: float


class Recorder:
    """Keeps the losses, the errors now and then, and the best state.

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
        self._last: State | None = None
        self._losses: list[float] = []
        self._measured: dict[int, dict[str, float]] = {}
        self._latest: dict[str, float] = {}
        self._errors = errors
        self._errors_every = errors_every
        self._epochs = epochs
        self._report = report
        self._elapsed = elapsed

    def __call__(self, state: State) -> None:
        """Take in the state after an epoch."""
        self._losses.append(state.loss)
        self._last = state
        if self.best is None or state.loss < self.best.loss:
            self.best = state
        if self.epoch % self._errors_every == 0 or self.epoch == self._epochs:
            self._measure(state)
        measured = next(reversed(self._measured), 0)
        self._report(Progress(self.epoch, self._epochs, state.loss, self._latest, measured, self._elapsed()))

    @property
    def epoch(self) -> int:
        """Epochs trained so far."""
        return max(len(self._losses) - 1, 0)

    def errors_of(self, theta: Tensor) -> dict[str, float]:
        """The errors of the parameters that are kept; those of the last epoch are noted as well."""
        if self._last is not None and self.epoch not in self._measured:
            self._measure(self._last)
        if self._last is not None and theta is self._last.theta:
            return self._latest
        return self._errors(theta)

    def history(self) -> History:
        """The course so far."""
        names = next(iter(self._measured.values()), dict[str, float]())
        fields = {name: tuple(each[name] for each in self._measured.values()) for name in names}
        return History(tuple(self._losses), tuple(self._measured), fields)

    def _measure(self, state: State) -> None:
        self._latest = self._errors(state.theta)
        if self._latest:
            self._measured[self.epoch] = self._latest
