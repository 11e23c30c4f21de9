"""L-BFGS with a strong Wolfe line search, at the settings of the paper."""

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from evopinn.errors import TrainingError
from evopinn.training.optimizer import Objective, State, require_positive
from evopinn.training.wolfe import Trial, strong_wolfe

SMALLEST_CURVATURE = 1e-10
BLOCK_ROWS = 50


@dataclass(eq=False)
class Block:
    """Room for some rows of a matrix. A row once written never changes.

    Attributes:
        rows: Shape (`BLOCK_ROWS`, p).
        written: How many of them are taken.
    """

    rows: Tensor
    written: int

    @staticmethod
    def starting_with(rows: Tensor) -> "Block":
        """A new block with a copy of some rows."""
        block = Block(rows.new_empty(BLOCK_ROWS, rows.shape[1]), rows.shape[0])
        block.rows[: block.written] = rows
        return block


@dataclass(frozen=True, eq=False)
class Rows:
    """A matrix that gets rows at its end and loses them at its beginning, each time as a new matrix.

    Matrices that come from one another share their rows, so that one row more takes the memory of a row. As
    rows lie together in blocks, products with vectors are as fast as memory can be read. How a matrix is cut
    into pieces follows from how it came about, not from what else came of those before it: the same steps
    round the same way.

    Attributes:
        parts: The matrix, cut into pieces one above the other.
        block: The block that the last piece is from.
        end: Where in the block it ends.
        count: How many rows there are in all.
    """

    parts: tuple[Tensor, ...] = ()
    block: Block | None = None
    end: int = 0
    count: int = 0

    def with_last(self, row: Tensor, most: int) -> "Rows":
        """The matrix with one more row, and without the first ones if that makes more rows than `most`."""
        parts, block, end = self.parts, self.block, self.end
        if block is None or end == BLOCK_ROWS:
            block, begin, end = Block.starting_with(row.new_empty(0, row.shape[0])), 0, 0
        else:
            *parts, last = parts
            begin = end - last.shape[0]
            if end < block.written:  # by another matrix that has come from this one before
                block = Block.starting_with(block.rows[:end])
        block.written = end + 1
        block.rows[end] = row
        surplus = max(self.count + 1 - most, 0)
        pieces = _without_first((*parts, block.rows[begin : end + 1]), surplus)
        return Rows(pieces, block, end + 1, self.count + 1 - surplus)

    def times(self, vectors: Tensor) -> Tensor:
        """The product with each row of the argument: shape (…, p) to (…, count)."""
        return torch.cat([vectors @ part.T for part in self.parts], dim=-1)

    def add_combination(self, weights: Tensor, to: Tensor) -> None:
        """Add the sum of the rows times their weights to a vector, in place."""
        done = 0
        for part in self.parts:
            begin, done = done, done + part.shape[0]
            to.addmv_(part.T, weights[begin:done])


def _without_first(parts: tuple[Tensor, ...], rows: int) -> tuple[Tensor, ...]:
    """Cut rows off the beginning, if any."""
    while rows > 0:
        first, *others = parts
        parts = (first[rows:], *others) if rows < first.shape[0] else tuple(others)
        rows -= first.shape[0]
    return parts


@dataclass(frozen=True, eq=False)
class Steps:
    """The latest steps s = θ' − θ and changes y = ∇' − ∇ along them, oldest first.

    As rows of matrices S and Y they take part in the two-loop recursion all at once instead of one by one.

    Attributes:
        s: S.
        y: Y.
        inverse: R⁻¹, R being the upper triangular matrix of s_i·y_j for i ≤ j. A new step adds a column to
            it, a forgotten one takes the first row and column away, and the rest is as it was.
        slopes: S∇ with the gradient where the latest step led.
    """

    s: Rows
    y: Rows
    inverse: Tensor
    slopes: Tensor

    @staticmethod
    def none(theta: Tensor) -> "Steps":
        """No steps yet."""
        return Steps(Rows(), Rows(), theta.new_empty(0, 0), theta.new_empty(0))

    def __len__(self) -> int:
        return self.s.count

    def seen_from(self, gradient: Tensor) -> "Steps":
        """The same steps, where the gradient is another."""
        return replace(self, slopes=self.s.times(gradient)) if len(self) else self

    def followed_by(self, s: Tensor, y: Tensor, gradient: Tensor, memory: int) -> "Steps":
        """One more step, and of those before as many as the memory has room for.

        Args:
            s: θ' − θ.
            y: ∇' − ∇.
            gradient: ∇'.
            memory: How many steps are remembered in all.
        """
        rows = self.s.with_last(s, memory)
        # Both products in one go: what takes the time is reading S.
        column, slopes = rows.times(torch.stack((y, gradient)))
        kept, curvature = rows.count - 1, column[-1]
        forgotten = self.s.count - kept
        inverse = s.new_zeros(rows.count, rows.count)
        inverse[:kept, :kept] = self.inverse[forgotten:, forgotten:]
        inverse[:kept, kept] = inverse[:kept, :kept] @ column[:kept] / -curvature
        inverse[kept, kept] = 1 / curvature
        return Steps(rows, self.y.with_last(y, memory), inverse, slopes)

    def descent(self, gradient: Tensor, scale: float) -> Tensor:
        """−H∇, H being the inverse Hessian that BFGS makes of these steps, starting from scale·1.

        With D the diagonal of R, the first loop of the recursion comes to α = R⁻¹S∇ and
        q = scale·(∇ − Yᵀα), the second to β = R⁻ᵀ(Dα − Yq) and H∇ = q + Sᵀβ.

        Args:
            gradient: ∇, the one that `slopes` were taken with.
            scale: The multiple of the identity.
        """
        if not len(self):
            return -scale * gradient
        alpha = self.inverse @ self.slopes
        q = -gradient
        self.y.add_combination(alpha, to=q)
        q *= scale
        beta = self.inverse.T @ (alpha / self.inverse.diagonal() + self.y.times(q))
        self.s.add_combination(-beta, to=q)
        return q


@dataclass(frozen=True, eq=False)
class LBFGSState(State):
    """The state of L-BFGS.

    Attributes:
        unit: What tolerances are relative to: the loss at the start, or 1 if that is larger.
        history: The latest steps, oldest first.
        scale: The initial inverse Hessian is this multiple of the identity.
        started: Whether a step has been made: the first one is shorter.
    """

    unit: float = 1.0
    history: Steps = field(kw_only=True)
    scale: float = 1.0
    started: bool = False


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory BFGS; an epoch is one iteration.

    Where the loss starts above 1, steps and tolerances are those of torch's L-BFGS, which the paper used.
    Where it starts below, as small units or weights can make it, all is as if the loss were divided by its
    start: the units of an equation do not decide how well it is solved.

    Attributes:
        rate: The first step that the line search tries.
        memory: How many steps are remembered.
        gradient_tolerance: Converged when no component of the gradient is larger.
        change_tolerance: Converged when the loss falls by less than this per unit step along the direction.
    """

    rate: float = 1.0
    memory: int = 100
    gradient_tolerance: float = 1e-16
    change_tolerance: float = 1e-16

    def __post_init__(self) -> None:
        require_positive(self, "rate")
        if self.memory < 1:
            raise TrainingError(f"LBFGS(memory={self.memory}): at least one step must be remembered.")

    def init(self, objective: Objective, theta: Tensor) -> LBFGSState:
        """The state at the start."""
        loss, gradient = objective(theta)
        unit = loss if 0 < loss < 1 else 1.0
        converged = self._is_flat(gradient, unit)
        return LBFGSState(theta, loss, gradient, converged, unit, history=Steps.none(theta), scale=1 / unit)

    def _is_flat(self, gradient: Tensor, unit: float) -> bool:
        return bool(gradient.abs().max() <= self.gradient_tolerance * unit)

    def step(self, objective: Objective, state: LBFGSState) -> LBFGSState:
        """The state after one iteration."""
        direction = state.history.descent(state.gradient, state.scale)
        slope = float(state.gradient @ direction)
        if not slope < -self.change_tolerance * state.unit:
            return self._given_up(state)
        first = self.rate
        if not state.started:
            first *= min(1.0, state.unit / float(state.gradient.abs().sum()))

        def line(step: float) -> Trial:
            loss, gradient = objective(torch.add(state.theta, direction, alpha=step))
            return Trial(step, loss, float(gradient @ direction), gradient)

        start = Trial(0.0, state.loss, slope, state.gradient)
        found = strong_wolfe(line, start, first, float(direction.abs().max()))
        if not found.loss < state.loss:
            return self._given_up(state)
        history, scale = self._remember(state, found.step * direction, found.gradient)
        return LBFGSState(
            torch.add(state.theta, direction, alpha=found.step),
            found.loss,
            found.gradient,
            self._is_flat(found.gradient, state.unit),
            state.unit,
            history=history,
            scale=scale,
            started=True,
        )

    def _given_up(self, state: LBFGSState) -> LBFGSState:
        """No step along the direction improves: start afresh without history or, if there was none, end."""
        none = Steps.none(state.theta)
        fresh = replace(state, history=none, scale=1 / state.unit, started=False)
        return fresh if state.history else replace(fresh, converged=True)

    def _remember(self, state: LBFGSState, s: Tensor, gradient: Tensor) -> tuple[Steps, float]:
        """History and scale after a step; one along which the curvature is not positive is not remembered."""
        y = gradient - state.gradient
        curvature = float(y @ s)
        if not curvature > SMALLEST_CURVATURE * state.unit:
            return state.history.seen_from(gradient), state.scale
        return state.history.followed_by(s, y, gradient, self.memory), curvature / float(y @ y)
