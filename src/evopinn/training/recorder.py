"""The recorder of a training: its losses, errors and best state."""

from collections.abc import Callable, Sequence

from torch import Tensor

from evopinn.training.history import History, Progress
from evopinn.training.optimiser import State, read_states

MAX_UNREAD = 32
"""The maximum number of steps whose losses stay unread on a device."""


class Recorder:
    """Records the losses, occasional errors, and the best state.

    States whose losses are still on a device wait and are recorded together: one that is not finite ends the
    training, as if none had come after it.

    Attributes:
        best: The state with the least loss.
        last: The latest recorded state.
        finite: Whether its loss and gradient are.
        initial_cost: What the start cost before the first step, in epochs.

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
        self.initial_cost = 0.0
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
        """Record the state after a step, as soon as its loss is read."""
        self._waiting.append(state)
        if state.unread is None or len(self._waiting) == MAX_UNREAD:
            self.settle()

    def settle(self) -> None:
        """Record the waiting states."""
        waiting, self._waiting = self._waiting, []
        for state, finite in read_states(waiting):
            if self.finite:
                self._add(state, finite)

    def resume(self, state: State) -> None:
        """Record the start of a continued training: the state after the last step of the one before."""
        self._losses[-1] = state.loss
        ((state, finite),) = read_states([state])
        self._take(state, finite, due=self.epoch % self._errors_every == 0)

    def consider(self, state: State) -> None:
        """Keep a state if it is the best."""
        if self.best is None or state.loss < self.best.loss:
            self.best = state

    def _add(self, state: State, finite: bool) -> None:
        before = self.epoch // self._errors_every
        self._losses.append(state.loss)
        self._spent.append(self.spent + state.cost if self._spent else self.initial_cost)
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
        """Epochs trained so far: the number of steps, or their cost if it differs from an epoch."""
        spent = self._spent[-1] if self._spent else self.initial_cost
        for state in self._waiting:  # one by one, as they will be added: `sum` may round otherwise
            spent += state.cost
        return spent

    def errors_of(self, theta: Tensor) -> dict[str, float]:
        """The errors of the best parameters; those of the last epoch are recorded as well."""
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
        """The epochs of the losses."""
        return tuple(self._spent)

    def history(self) -> History:
        """The history so far."""
        names = next(iter(self._measured.values()), dict[str, float]())
        fields = {name: tuple(each[name] for each in self._measured.values()) for name in names}
        return History(self.losses, tuple(self._measured), fields, self.epochs)

    def _measure(self, state: State) -> None:
        self._latest = self._errors(state.theta)
        if self._latest:
            self._measured[self.epoch] = self._latest
