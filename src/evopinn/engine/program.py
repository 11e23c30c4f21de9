"""Programs: formulas as sequences of torch operations on reused buffers.

Fresh arrays cost page faults on every evaluation, and buffers that are used again at once stay in cache: so
intermediate values take turns in as few buffers as possible, and a product that is added to something becomes
one operation with the sum.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

import torch
from torch import Tensor

from evopinn.engine.simplification import made
from evopinn.genome.derivatives import asinh
from evopinn.symbolic import Symbol, evaluated, in_order

COMPARISONS = ("gt", "lt", "eq")

EXPANDED: Mapping[str, Callable[[Tensor], Tensor]] = MappingProxyType({"asinh": asinh})
"""Operations that torch computes faster in several steps."""


@dataclass(frozen=True)
class Instruction:
    """One torch operation.

    Attributes:
        function: The function of torch.
        operands: Its operands.
        options: Numbers passed by name.
        result: The symbol that it computes.
        place: Number of the buffer that it writes to; None for an output, or if it needs none.
    """

    function: Callable[..., Tensor]
    operands: tuple[Symbol, ...]
    options: Mapping[str, float]
    result: Symbol
    place: int | None


@dataclass(frozen=True)
class Program:
    """The operations for some formulas, in order.

    Attributes:
        outputs: The formulas.
        steps: The operations.
        buffers: How many buffers of an array's size they need besides inputs and outputs.
    """

    outputs: tuple[Symbol, ...]
    steps: tuple[Instruction, ...]
    buffers: int

    @classmethod
    def of(cls, outputs: Sequence[Symbol], given: Sequence[Symbol] = ()) -> "Program":
        """The program of formulas, where the symbols `given` are known already."""
        known = set(given)
        outputs = _expanded(outputs)
        results = frozenset(outputs)
        ordered = _contracted(in_order(outputs, known), results)
        last_use = {operand: number for number, (_, ops, _, _) in enumerate(ordered) for operand in ops}
        free: list[int] = []
        buffers = 0
        place: dict[Symbol, int] = {}
        steps: list[Instruction] = []
        for number, (function, operands, options, result) in enumerate(ordered):
            ended = {operand for operand in operands if operand in place and last_use[operand] == number}
            free += sorted(place[operand] for operand in ended)
            if result in results or not result.varies or result.operation in COMPARISONS:
                steps.append(Instruction(function, operands, options, result, None))
                continue
            if not free:
                free.append(buffers)
                buffers += 1
            place[result] = free.pop()
            steps.append(Instruction(function, operands, options, result, place[result]))
        return cls(tuple(outputs), tuple(steps), buffers)

    def bind(
        self, arrays: Mapping[Symbol, Tensor], buffers: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> "BoundProgram":
        """The program on fixed arrays.

        Args:
            arrays: The inputs that vary.
            buffers: At least `self.buffers` arrays for intermediate results.
            outputs: The arrays of the results.
        """
        return BoundProgram(self, dict(arrays), buffers, outputs)


class BoundProgram:
    """A program whose inputs, outputs and buffers are fixed; only numbers change from run to run."""

    def __init__(
        self,
        program: Program,
        arrays: Mapping[Symbol, Tensor],
        buffers: Sequence[Tensor],
        outputs: Sequence[Tensor],
    ) -> None:
        like = outputs[0]
        destinations = dict[Symbol, Tensor]()
        self._copies: list[tuple[Symbol, Tensor]] = []
        # A result that is one number for all elements is spread out afterwards.
        made = {step.result for step in program.steps if step.result.varies}
        for symbol, output in zip(program.outputs, outputs, strict=True):
            if symbol in made and symbol not in destinations:
                destinations[symbol] = output
            else:
                self._copies.append((symbol, output))
        self._values: dict[Symbol, Tensor] = dict(arrays)
        for symbol in _constants(program):
            self._values[symbol] = torch.tensor(symbol.value, dtype=like.dtype, device=like.device)
        self._steps: list[tuple[Callable[..., Tensor], tuple[Symbol, ...], dict[str, Any], Symbol]] = []
        for step in program.steps:
            options: dict[str, Any] = dict(step.options)
            if step.result in destinations:
                options["out"] = destinations[step.result]
            elif step.place is not None:
                options["out"] = buffers[step.place]
            self._steps.append((step.function, step.operands, options, step.result))

    def __call__(self, numbers: Mapping[Symbol, Tensor]) -> None:
        """Run it."""
        values = self._values
        values.update(numbers)
        for function, operands, options, result in self._steps:
            values[result] = function(*[values[operand] for operand in operands], **options)
        for symbol, output in self._copies:
            output.copy_(values[symbol])


def _expanded(outputs: Sequence[Symbol]) -> list[Symbol]:
    """The same formulas without operations that torch computes slowly."""

    def rule(symbol: Symbol, operands: list[Symbol]) -> Symbol:
        if symbol.operation in EXPANDED:
            return cast(Symbol, EXPANDED[symbol.operation](cast(Tensor, operands[0])))
        return made(symbol.operation, *operands) if operands else symbol

    done: dict[Symbol, Symbol] = {}
    return [evaluated(symbol, rule, done) for symbol in outputs]


def saved_for(later: Sequence[Symbol], earlier: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """The arrays that later formulas can take over from earlier ones."""
    later, earlier = _expanded(later), _expanded(earlier)
    computed = {
        symbol for symbol in in_order(earlier) if symbol.varies and symbol.operation not in COMPARISONS
    }
    found: dict[Symbol, None] = {}

    def visit(symbol: Symbol) -> None:
        if symbol in computed:
            found[symbol] = None
        else:
            for operand in symbol.operands:
                visit(operand)

    for symbol in later:
        visit(symbol)
    return tuple(found)


Operation = tuple[Callable[..., Tensor], tuple[Symbol, ...], Mapping[str, float], Symbol]


def _contracted(ordered: Sequence[Symbol], outputs: frozenset[Symbol]) -> list[Operation]:
    """Torch operations for symbols; products that are used once, in a sum, join it."""
    uses = Counter(operand for symbol in ordered for operand in symbol.operands)
    joined: set[Symbol] = set()
    inner = set(ordered) - outputs

    def alone(symbol: Symbol) -> bool:
        return symbol.operation == "mul" and symbol.varies and uses[symbol] == 1 and symbol in inner

    def joining(symbol: Symbol) -> Operation | None:
        first, second = symbol.operands
        sign = -1.0 if symbol.operation == "sub" else 1.0
        if sign > 0 and alone(first) and not alone(second):
            first, second = second, first
        if not alone(second):
            return None
        a, b = second.operands
        if a.is_constant() and b.varies:
            if first.varies and alone(b) and all(factor.varies for factor in b.operands):
                joined.update((second, b))
                return torch.addcmul, (first, *b.operands), {"value": sign * a.value}, symbol
            joined.add(second)
            return torch.add, (first, b), {"alpha": sign * a.value}, symbol
        if first.varies and a.varies and b.varies:
            joined.add(second)
            return torch.addcmul, (first, a, b), {"value": sign}, symbol
        return None

    found: list[Operation] = []
    for symbol in reversed(ordered):
        if symbol in joined:
            continue
        sum_ = joining(symbol) if symbol.operation in ("add", "sub") else None
        found.append(sum_ or (getattr(torch, symbol.operation), symbol.operands, {}, symbol))
    return _by_need(found[::-1])


def _by_need(operations: list[Operation]) -> list[Operation]:
    """The operations, operands first: a joined product may have been the only reason for an early operand."""
    by_result = {operation[3]: operation for operation in operations}
    done: dict[Symbol, Operation] = {}

    def visit(symbol: Symbol) -> None:
        if symbol in by_result and symbol not in done:
            for operand in by_result[symbol][1]:
                visit(operand)
            done[symbol] = by_result[symbol]

    for operation in operations:
        visit(operation[3])
    return list(done.values())


def _constants(program: Program) -> Iterator[Symbol]:
    for symbol in (*(o for step in program.steps for o in step.operands), *program.outputs):
        if symbol.is_constant():
            yield symbol
