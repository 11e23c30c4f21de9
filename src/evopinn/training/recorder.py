"""Keeping the course of a training."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from evopinn.training.optimizer import State, settled
from evopinn.training.result import History

AHEAD = 32
"""Steps whose losses may be left on a device before all of them are read."""


@dataclass(frozen=True)
class Progress:
    """What is known after a step, which with most optimisers is an epoch.

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

    States whose losses are still on a device wait until there are some, and are taken in together: a state
    that is not finite ends them, as if none had come after it.

    Attributes:
        best: The state with the least loss.
        last: The latest state that was taken in.
        finite: Whether loss and gradient of that one are.

    Args:
        errors: Measures the errors at θ.
        errors_every: After how many epochs.
        epochs: Epochs planned.
        report: Told of each step.
        elapsed: Gives the seconds since the start.
        losses: Those of an earlier training that this one continues.
        spent: The epochs that they belong to.
    """

    def __init__(
        self,
        errors: Callable[[Tensor], dict[str, float]],
        errors_every: int,
        epochs: int,
        report: Callable[[Progress], None],
        elapsed: Callable[[], float],
        losses: Sequence[float] = (),
        spent: Sequence[float] = (),
    ) -> None:
        self.best: State | None = None
        self.last: State | None = None
        self.finite = True
        self._waiting: list[State] = []
        self._losses = list(losses)
        self._spent = list(spent)
        self._measured: dict[int, dict[str, float]] = {}
        self._latest: dict[str, float] = {}
        self._errors = errors
        self._errors_every = errors_every
        self._epochs = epochs
        self._report = report
        self._elapsed = elapsed

    def __call__(self, state: State) -> None:
        """Take in the state after a step, as soon as its loss is read."""
        self._waiting.append(state)
        if state.unread is None or len(self._waiting) == AHEAD:
            self.settle()

    def settle(self) -> None:
        """Take in whatever waits."""
        waiting, self._waiting = self._waiting, []
        for state, finite in settled(waiting):
            if self.finite:
                self._add(state, finite)

    def resume(self, state: State) -> None:
        """Take in where a continued training begins: the state after the last step of the one before."""
        self._losses[-1] = state.loss
        ((state, finite),) = settled([state])
        self._take(state, finite, due=self.epoch % self._errors_every == 0)

    def consider(self, state: State) -> None:
        """Keep a state if it is the best."""
        if self.best is None or state.loss < self.best.loss:
            self.best = state

    def _add(self, state: State, finite: bool) -> None:
        before = self.epoch // self._errors_every
        self._losses.append(state.loss)
        self._spent.append(self.spent + state.cost if self._spent else 0.0)
        self._take(state, finite, due=len(self._losses) == 1 or self.epoch // self._errors_every > before)

    def _take(self, state: State, finite: bool, due: bool) -> None:
        self.last, self.finite = state, finite
        self.consider(state)
        if due or self.epoch == self._epochs:
            self._measure(state)
        measured = next(reversed(self._measured), 0)
        self._report(Progress(self.epoch, self._epochs, state.loss, self._latest, measured, self._elapsed()))

    @property
    def epoch(self) -> int:
        """Epochs trained so far, rounded."""
        return round(self.spent)

    @property
    def spent(self) -> float:
        """Epochs trained so far: steps, or what steps of another cost stand for."""
        spent = self._spent[-1] if self._spent else 0.0
        for state in self._waiting:  # one by one, as they will be added: `sum` may round otherwise
            spent += state.cost
        return spent

    def errors_of(self, theta: Tensor) -> dict[str, float]:
        """The errors of the parameters that are kept; those of the last epoch are noted as well."""
        if self.last is not None and self.epoch not in self._measured:
            self._measure(self.last)
        if self.last is not None and theta is self.last.theta:
            return self._latest
        return self._errors(theta)

    @property
    def losses(self) -> tuple[float, ...]:
        """The loss at the start and after each step."""
        return tuple(self._losses)

    @property
    def epochs(self) -> tuple[float, ...]:
        """The epochs that the losses belong to."""
        return tuple(self._spent)

    def history(self) -> History:
        """The course so far."""
        names = next(iter(self._measured.values()), dict[str, float]())
        fields = {name: tuple(each[name] for each in self._measured.values()) for name in names}
        return History(self.losses, tuple(self._measured), fields, self.epochs)

    def _measure(self, state: State) -> None:
        self._latest = self._errors(state.theta)
        if self._latest:
            self._measured[self.epoch] = self._latest
