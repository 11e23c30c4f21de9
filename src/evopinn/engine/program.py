"""Formulas as a sequence of torch operations into buffers that are kept.

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

from evopinn.engine.symbols import Symbol, made, torch_function
from evopinn.genome.derivatives import asinh

COMPARISONS = ("gt", "lt", "eq")

EXPANDED: Mapping[str, Callable[[Tensor], Tensor]] = MappingProxyType({"asinh": asinh})
"""Operations that torch is faster at in several steps."""


@dataclass(frozen=True)
class Step:
    """One torch operation.

    Attributes:
        function: The function of torch.
        operands: What it takes.
        options: Numbers that it takes by name.
        result: What it makes.
        place: Number of the buffer that it writes to; None for an output or what takes no buffer.
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
    steps: tuple[Step, ...]
    buffers: int

    @classmethod
    def of(cls, outputs: Sequence[Symbol], given: Sequence[Symbol] = ()) -> "Program":
        """The program of formulas, where the symbols `given` are known already."""
        known = set(given)
        outputs = _expanded(outputs)
        ordered = _contracted(_in_order(outputs, known), frozenset(outputs))
        last_use = {operand: number for number, (_, ops, _, _) in enumerate(ordered) for operand in ops}
        free: list[int] = []
        buffers = 0
        place: dict[Symbol, int] = {}
        steps: list[Step] = []
        for number, (function, operands, options, result) in enumerate(ordered):
            ended = {operand for operand in operands if operand in place and last_use[operand] == number}
            free += sorted(place[operand] for operand in ended)
            if result in outputs or not result.varies or result.operation in COMPARISONS:
                steps.append(Step(function, operands, options, result, None))
                continue
            if not free:
                free.append(buffers)
                buffers += 1
            place[result] = free.pop()
            steps.append(Step(function, operands, options, result, place[result]))
        return cls(tuple(outputs), tuple(steps), buffers)

    def bind(
        self, arrays: Mapping[Symbol, Tensor], buffers: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> "BoundProgram":
        """The program on arrays that stay where they are.

        Args:
            arrays: The inputs that vary.
            buffers: At least `self.buffers` arrays for what comes between.
            outputs: Where the results go.
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
            self._values[symbol] = torch.tensor(symbol.number, dtype=like.dtype, device=like.device)
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
    """The same formulas without operations that torch is slow at."""
    done: dict[Symbol, Symbol] = {}

    def visit(symbol: Symbol) -> Symbol:
        if symbol not in done:
            operands = [visit(operand) for operand in symbol.operands]
            if symbol.operation in EXPANDED:
                done[symbol] = cast(Symbol, EXPANDED[symbol.operation](cast(Tensor, operands[0])))
            else:
                done[symbol] = made(symbol.operation, *operands) if operands else symbol
        return done[symbol]

    return [visit(symbol) for symbol in outputs]


def saved_for(later: Sequence[Symbol], earlier: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """What formulas that are run later can take over from earlier ones: arrays that both need."""
    later, earlier = _expanded(later), _expanded(earlier)
    computed = {
        symbol
        for symbol in _in_order(earlier, set())
        if symbol.varies and symbol.operation not in COMPARISONS
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


def _in_order(outputs: Sequence[Symbol], known: set[Symbol]) -> list[Symbol]:
    """What must be computed, operands first."""
    done: dict[Symbol, None] = {}

    def visit(symbol: Symbol) -> None:
        if symbol in done or symbol in known or not symbol.operands:
            return
        for operand in symbol.operands:
            visit(operand)
        done[symbol] = None

    for symbol in outputs:
        visit(symbol)
    return list(done)


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
        if a.operation == "constant" and b.varies:
            if first.varies and alone(b) and all(factor.varies for factor in b.operands):
                joined.update((second, b))
                return torch.addcmul, (first, *b.operands), {"value": sign * a.number}, symbol
            joined.add(second)
            return torch.add, (first, b), {"alpha": sign * a.number}, symbol
        if first.varies and a.varies and b.varies:
            joined.add(second)
            return torch.addcmul, (first, a, b), {"value": sign}, symbol
        return None

    found: list[Operation] = []
    for symbol in reversed(ordered):
        if symbol in joined:
            continue
        sum_ = joining(symbol) if symbol.operation in ("add", "sub") else None
        found.append(sum_ or (torch_function(symbol.operation), symbol.operands, {}, symbol))
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
        if symbol.operation == "constant":
            yield symbol
