"""The emitter of LLVM instructions: Python expressions of vectors write them.

An `Emitter` appends to the block of a builder and remembers what it wrote: the same operation on the same
operands is written only once. So sin and cos of one argument share its reduction, and a derivative shares
what the function has already computed, without anybody having to plan for it.

Products and sums may be contracted to fused multiply-adds; nothing is reassociated, nan and inf are obeyed.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from llvmlite import ir

from evopinn.engine.fused.vectors import FORMATS, Bits, DType, Lanes, Mask, Value, Vector

_CONTRACT: Final = ("contract",)
_BINARY: Final[Mapping[str, Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]]] = {
    "fadd": lambda builder, a, b: builder.fadd(a, b, flags=_CONTRACT),
    "fsub": lambda builder, a, b: builder.fsub(a, b, flags=_CONTRACT),
    "fmul": lambda builder, a, b: builder.fmul(a, b, flags=_CONTRACT),
    "fdiv": lambda builder, a, b: builder.fdiv(a, b),
    "add": lambda builder, a, b: builder.add(a, b),
    "sub": lambda builder, a, b: builder.sub(a, b),
    "and": lambda builder, a, b: builder.and_(a, b),
    "or": lambda builder, a, b: builder.or_(a, b),
    "xor": lambda builder, a, b: builder.xor(a, b),
    "shl": lambda builder, a, b: builder.shl(a, b),
    "lshr": lambda builder, a, b: builder.lshr(a, b),
}
_COMMUTATIVE: Final = frozenset({"fadd", "fmul", "add", "and", "or", "xor"})


def _formatted(kind: ir.Type, text: str) -> ir.Value:
    """A constant with its text: one word for all lanes, where the library would list them."""
    constant = ir.FormattedConstant(kind, text)
    constant.constant = text  # which the constructor has taken for a list of lanes
    return constant


class Emitter:
    """Writes vector instructions at the end of the builder's block, each of them once.

    What it remembers is valid wherever the block it was written in dominates. Code that writes a branch of
    its own calls `scope` for what is only valid inside of it.
    """

    def __init__(self, builder: ir.IRBuilder, dtype: DType) -> None:
        self.builder = builder
        self.format = FORMATS[dtype]
        self.vector_type = ir.VectorType(self.format.scalar, self.format.lanes)
        self.bits_type = ir.VectorType(ir.IntType(self.format.width), self.format.lanes)
        self.mask_type = ir.VectorType(ir.IntType(1), self.format.lanes)
        self._written: dict[tuple[object, ...], Value] = {}
        self._count = 0

    def _wrap(self, kind: type[Lanes], value: ir.Value) -> Lanes:
        self._count += 1
        return kind(self, value, self._count)

    def _once(self, kind: type[Lanes], key: tuple[object, ...], write: Callable[[], ir.Value]) -> Lanes:
        found = self._written.get(key)
        if not isinstance(found, kind):
            found = self._written[key] = self._wrap(kind, write())
        return found

    @contextmanager
    def scope(self) -> Generator[None]:
        """Forget at the end what is written inside: it need not be valid behind a branch."""
        outside = self._written
        self._written = dict(outside)
        try:
            yield
        finally:
            self._written = outside

    # Values from outside

    def constant(self, value: float) -> Vector:
        """The same number in all lanes."""
        text = f"0x{FORMATS['float64'].bits_of(self.format.rounded(value)):016X}"
        splat = f"splat ({self.format.scalar} {text})"
        return self._once(Vector, ("constant", text), lambda: _formatted(self.vector_type, splat))

    def integers(self, value: Bits | int) -> Bits:
        """The same integer in all lanes, modulo their width."""
        if isinstance(value, Bits):
            return value
        wrapped = value % (1 << self.format.width)
        splat = f"splat (i{self.format.width} {wrapped})"
        return self._once(Bits, ("integer", wrapped), lambda: _formatted(self.bits_type, splat))

    def vector(self, value: Vector | float) -> Vector:
        """A vector unchanged, a number as a constant."""
        return value if isinstance(value, Vector) else self.constant(value)

    def wrap(self, value: ir.Value) -> Vector:
        """A value of the vector type that was written by other means, such as a phi node."""
        return self._wrap(Vector, value)

    def load(self, pointer: ir.Value, index: ir.Value) -> Vector:
        """The numbers from `pointer[index]` on."""
        address = self.builder.gep(pointer, [index], inbounds=True, source_etype=self.format.scalar)
        return self.wrap(self.builder.load(address, align=self.format.width // 8, typ=self.vector_type))

    def broadcast(self, pointer: ir.Value, index: ir.Value) -> Vector:
        """The number `pointer[index]` in all lanes."""
        address = self.builder.gep(pointer, [index], inbounds=True, source_etype=self.format.scalar)
        number = self.builder.load(address, align=self.format.width // 8, typ=self.format.scalar)
        zero = ir.Constant(ir.IntType(32), 0)
        first = self.builder.insert_element(_formatted(self.vector_type, "poison"), number, zero)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.format.lanes), [zero] * self.format.lanes)
        return self.wrap(self.builder.shuffle_vector(first, first, zeros))

    def store(self, vector: Vector, pointer: ir.Value, index: ir.Value) -> None:
        """Write the lanes to `pointer[index]` and on."""
        address = self.builder.gep(pointer, [index], inbounds=True, source_etype=self.format.scalar)
        self.builder.store(vector.value, address, align=self.format.width // 8)

    def store_sum(self, vector: Vector, pointer: ir.Value, index: ir.Value) -> None:
        """Write the sum of the lanes, by halves, to `pointer[index]`."""
        count = self.format.lanes
        while count > 1:
            count //= 2
            upper = ir.Constant(
                ir.VectorType(ir.IntType(32), self.format.lanes),
                [
                    ir.Constant(ir.IntType(32), (lane + count) % self.format.lanes)
                    for lane in range(self.format.lanes)
                ],
            )
            moved = self.builder.shuffle_vector(vector.value, vector.value, upper)
            vector = vector + self.wrap(moved)
        number = self.builder.extract_element(vector.value, ir.Constant(ir.IntType(32), 0))
        address = self.builder.gep(pointer, [index], inbounds=True, source_etype=self.format.scalar)
        self.builder.store(number, address, align=self.format.width // 8)

    # Operations

    def binary(self, operation: str, a: Lanes, b: Lanes) -> Lanes:
        """An operation of the table on two values of one kind."""
        if operation in _COMMUTATIVE and a.number > b.number:
            a, b = b, a
        write = _BINARY[operation]
        return self._once(
            type(a), (operation, a.number, b.number), lambda: write(self.builder, a.value, b.value)
        )

    def negative(self, a: Vector) -> Vector:
        """-a, also of zeros."""
        return self._once(Vector, ("fneg", a.number), lambda: self.builder.fneg(a.value))

    def compare(self, relation: str, a: Vector, b: Vector) -> Mask:
        """Where the relation holds; it does not for nan."""
        return self._once(
            Mask,
            (relation, a.number, b.number),
            lambda: self.builder.fcmp_ordered(relation, a.value, b.value),
        )

    def nonzero(self, a: Bits) -> Mask:
        """Where any bit is set."""
        zero = self.integers(0)
        return self._once(
            Mask, ("nonzero", a.number), lambda: self.builder.icmp_unsigned("!=", a.value, zero.value)
        )

    def select(self, mask: Mask, a: Vector | float, b: Vector | float) -> Vector:
        """`a` where the mask holds, `b` elsewhere."""
        yes, no = self.vector(a), self.vector(b)
        return self._once(
            Vector,
            ("select", mask.number, yes.number, no.number),
            lambda: self.builder.select(mask.value, yes.value, no.value),
        )

    def as_bits(self, a: Vector) -> Bits:
        """The bits of floating-point numbers."""
        return self._once(Bits, ("bits", a.number), lambda: self.builder.bitcast(a.value, self.bits_type))

    def as_vector(self, a: Bits) -> Vector:
        """The floating-point numbers of bits."""
        return self._once(
            Vector, ("float", a.number), lambda: self.builder.bitcast(a.value, self.vector_type)
        )

    def intrinsic(self, name: str, *operands: Vector) -> Vector:
        """A function that LLVM knows under this name, by an instruction or by calls of the C library."""

        def write() -> ir.Value:
            kind = ir.FunctionType(self.vector_type, [self.vector_type] * len(operands))
            suffix = f"v{self.format.lanes}f{self.format.width}"
            function = self.builder.module.declare_intrinsic(f"llvm.{name}.{suffix}", fnty=kind)
            return self.builder.call(function, [operand.value for operand in operands])

        return self._once(Vector, (name, *(operand.number for operand in operands)), write)

    def fma(self, a: Vector | float, b: Vector | float, c: Vector | float) -> Vector:
        """Compute a·b + c with one rounding."""
        return self.intrinsic("fma", self.vector(a), self.vector(b), self.vector(c))

    def abs(self, a: Vector) -> Vector:
        """|a|."""
        return self.intrinsic("fabs", a)

    def sqrt(self, a: Vector) -> Vector:
        """√a, correctly rounded."""
        return self.intrinsic("sqrt", a)

    def copysign(self, a: Vector | float, b: Vector) -> Vector:
        """|a| with the sign of b."""
        return self.intrinsic("copysign", self.vector(a), b)

    def any(self, mask: Mask) -> ir.Value:
        """Whether the mask holds in any lane, as one truth value."""
        kind = ir.FunctionType(ir.IntType(1), [self.mask_type])
        name = f"llvm.vector.reduce.or.v{self.format.lanes}i1"
        reduce = self.builder.module.declare_intrinsic(name, fnty=kind)
        return self.builder.call(reduce, [mask.value])

    # Control flow

    def remembered(self, name: str, x: Vector, make: Callable[[], Sequence[Vector]]) -> tuple[Vector, ...]:
        """The result of the first call of `make` under this name and argument."""
        results: list[Vector] = []
        while isinstance(found := self._written.get((name, x.number, len(results))), Vector):
            results.append(found)
        if not results:
            results += make()
            self._written.update({(name, x.number, i): result for i, result in enumerate(results)})
        return tuple(results)

    def unless_any(
        self, mask: Mask, usual: Sequence[Vector], otherwise: Callable[[], Sequence[Vector]]
    ) -> list[Vector]:
        """`usual` or, where the mask holds, the result of `otherwise`, in a branch that is rarely taken."""
        builder = self.builder
        before, rare, after = builder.block, *map(builder.append_basic_block, ("rare", "after"))
        builder.cbranch(self.any(mask), rare, after).set_weights([1, 1_000_000])
        builder.position_at_end(rare)
        with self.scope():
            replaced = [self.select(mask, a, b) for a, b in zip(otherwise(), usual, strict=True)]
        rare_end = builder.block
        builder.branch(after)
        builder.position_at_end(after)
        joined: list[Vector] = []
        for common, special in zip(usual, replaced, strict=True):
            phi = builder.phi(self.vector_type)
            phi.add_incoming(common.value, before)
            phi.add_incoming(special.value, rare_end)
            joined.append(self.wrap(phi))
        return joined
