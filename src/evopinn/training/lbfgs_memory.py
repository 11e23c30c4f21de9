"""The memory of L-BFGS: its latest steps, and the direction computed from them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

BLOCK_ROWS = 50


@dataclass(eq=False)
class Block:
    """Memory for some rows of a matrix. A written row never changes.

    Attributes:
        rows: Shape (`BLOCK_ROWS`, p).
        written: The number of rows in use.
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
    """An immutable matrix; adding rows at its end or dropping them from its beginning makes a new one.

    Such matrices share their rows, so that another row takes the memory of one row. As
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

    @staticmethod
    def restored(matrix: Tensor, end: int) -> "Rows":
        """The rows of a matrix, the last one where it was in its block.

        The matrix is then cut into the same pieces as it was, so that products with it round the same way.
        """
        count, done, begin = matrix.shape[0], 0, (end - matrix.shape[0]) % BLOCK_ROWS
        parts: list[Tensor] = []
        block = None
        while done < count:
            taken = min(BLOCK_ROWS - begin, count - done)
            block = Block(matrix.new_empty(BLOCK_ROWS, matrix.shape[1]), begin + taken)
            parts.append(block.rows[begin : begin + taken])
            parts[-1].copy_(matrix[done : done + taken])
            begin, done = 0, done + taken
        return Rows(tuple(parts), block, end, count)

    @property
    def matrix(self) -> Tensor:
        """All rows in one piece."""
        return torch.cat(self.parts)

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

    @staticmethod
    def restored(tensors: Mapping[str, Tensor]) -> "Steps":
        """The steps that these tensors describe; at least one."""
        s, y = (Rows.restored(tensors[name], int(tensors["end"])) for name in ("s", "y"))
        return Steps(s, y, tensors["inverse"], tensors["slopes"])

    def tensors(self) -> dict[str, Tensor]:
        """The steps as tensors by name; nothing if there are none."""
        if not len(self):
            return {}
        # One place for both: S and Y get and lose their rows together.
        end = torch.tensor(self.s.end)
        return {
            "s": self.s.matrix,
            "y": self.y.matrix,
            "inverse": self.inverse,
            "slopes": self.slopes,
            "end": end,
        }

    def __len__(self) -> int:
        return self.s.count

    def seen_from(self, gradient: Tensor) -> "Steps":
        """The same steps, seen from another gradient."""
        return replace(self, slopes=self.s.times(gradient)) if len(self) else self

    def followed_by(self, s: Tensor, y: Tensor, gradient: Tensor, memory: int) -> "Steps":
        """The steps with another one, and as many earlier ones as the memory holds.

        Args:
            s: θ' − θ.
            y: ∇' − ∇.
            gradient: ∇'.
            memory: The maximum number of remembered steps.
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

        With D the diagonal of R, the first loop of the recursion gives α = R⁻¹S∇ and
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
