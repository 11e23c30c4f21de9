"""Faà di Bruno's formula: derivatives of f(z(x)) from those of f and of z.

    ∂^α f(z) = Σ over partitions of α into blocks β₁ + ... + β_k = α of  c · f⁽ᵏ⁾(z) · ∂^β₁ z ··· ∂^β_k z,

with c the number of ways to part the |α| single derivatives so. For one variable it composes univariate
functions; for several it carries the derivatives of a layer through its activation.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from evopinn.problem.fields import MultiIndex


@dataclass(frozen=True)
class Product:
    """One term of the formula.

    Attributes:
        coefficient: c.
        blocks: The multi-indices β₁, ..., β_k; their number k is the order of the derivative of f.
    """

    coefficient: int
    blocks: tuple[MultiIndex, ...]

    @property
    def order(self) -> int:
        """k, the order of the derivative of f."""
        return len(self.blocks)


@cache
def chain_rule(index: MultiIndex) -> tuple[Product, ...]:
    """The terms of ∂^α f(z).

    Example:
        >>> for term in chain_rule((2,)):
        ...     print(term)
        Product(coefficient=1, blocks=((2,),))
        Product(coefficient=1, blocks=((1,), (1,)))
    """
    singles = [axis for axis, order in enumerate(index) for _ in range(order)]
    counted: Counter[tuple[MultiIndex, ...]] = Counter()
    for partition in _set_partitions(singles):
        blocks = (tuple(block.count(axis) for axis in range(len(index))) for block in partition)
        counted[tuple(sorted(blocks))] += 1
    products = [Product(count, blocks) for blocks, count in counted.items()]
    return tuple(sorted(products, key=lambda product: (product.order, product.blocks)))


def closure(indices: Iterable[MultiIndex]) -> tuple[MultiIndex, ...]:
    """The multi-indices whose derivatives of z the formula needs for these of f(z), lowest order first.

    Example:
        >>> closure([(2, 0), (0, 1)])
        ((0, 0), (0, 1), (1, 0), (2, 0))
    """
    needed: set[MultiIndex] = set()
    for index in indices:
        needed |= {index, (0,) * len(index)}
        needed |= {block for product in chain_rule(index) for block in product.blocks}
    return tuple(sorted(needed, key=lambda each: (sum(each), each)))


def _set_partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """All ways to part a list into non-empty blocks, its members taken as distinct."""
    if not items:
        yield []
        return
    first, *rest = items
    for partition in _set_partitions(rest):
        yield [[first], *partition]
        for position, block in enumerate(partition):
            yield [*partition[:position], [first, *block], *partition[position + 1 :]]
