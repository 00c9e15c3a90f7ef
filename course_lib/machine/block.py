"""Loops -> expressions: what a kernel computes, without loops, locals and names of variables.

    for k in 0..2 { acc[] += a[k] * b[k] }    ->    v0 = load a[0]       v4 = load a[1]
    out[0] = acc[]                                  v1 = load b[0]       ...
                                                    v2 = mul v0, v1      out[0] = v8

The kernel's loops are run symbolically, one iteration after another: an index becomes a number, a
local becomes the value that was stored there last, and a value that was computed before is taken
again. What is left is straight-line code, a directed acyclic graph. A `vector` loop becomes vectors
of the core's width. Next room: `cover.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from course_lib.ir.expr import Affine, Call, Const, Expr, Load, Point
from course_lib.ir.loops.nest import Accumulate, Kernel, Local, Loop, Stmt, Store
from course_lib.machine.core import SCALARS

MOST = 4096  # values of one block


@dataclass(frozen=True)
class Value:
    """One value: a function of earlier ones (their numbers), or a "load", "broadcast", "const"."""

    op: str
    args: tuple[int, ...] = ()
    at: tuple[str, int] | None = None
    number: float | None = None


@dataclass(frozen=True)
class Block:
    """values in the order of the program; stores: ((buffer, first element), number of the value)"""

    values: tuple[Value, ...]
    stores: tuple[tuple[tuple[str, int], int], ...]
    lanes: int

    def uses(self) -> list[int]:
        """How often each value is read, a store being a reader too."""
        count = [0] * len(self.values)
        for number in (*(a for v in self.values for a in v.args), *(n for _, n in self.stores)):
            count[number] += 1
        return count


def block_of(kernel: Kernel, lanes: int = 8) -> Block:
    """What the kernel computes, on vectors of `lanes` float32.

    ValueError where the small processor cannot do it: another type than f32, a function that it
    does not have, an index from memory, lanes that do not lie side by side, or more than 4096
    values. A kernel without `vector` loops has one lane.
    """
    for buffer in kernel.buffers.values():
        if buffer.type.dtype.name != "f32":
            raise ValueError(f"@{kernel.name}: {buffer.name} is {buffer.type}, the core has f32")
    run = _Run(kernel, lanes if _has_vectors(kernel.body) else 1)
    run.block(kernel.body)
    stores = [(place, n) for place, n in run.stores.items() if place[0] in run.params]
    return Block(tuple(run.values), tuple(stores), run.lanes)


def _has_vectors(body: tuple[Stmt, ...]) -> bool:
    return any(isinstance(s, Loop) and (s.kind == "vector" or _has_vectors(s.body)) for s in body)


@dataclass
class _Run:
    """The symbolic run: where each loop is, and which value lies where in memory."""

    kernel: Kernel
    lanes: int
    values: list[Value] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)
    stores: dict[tuple[str, int], int] = field(default_factory=dict)
    written: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    at: dict[str, int] = field(default_factory=dict)
    lane: str = ""  # the variable of the vector loop that runs

    def __post_init__(self) -> None:
        self.params = {p.name for p in self.kernel.params}
        self.buffers = self.kernel.buffers

    def wrong(self, what: str) -> ValueError:
        return ValueError(f"@{self.kernel.name}: {what}")

    def block(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            match stmt:
                case Store(buffer, indices, value):
                    self.store(buffer, indices, self.expr(value))
                case Accumulate(buffer, indices, op, value):
                    old = self.load(buffer, indices)
                    self.store(buffer, indices, self.call(op, (old, self.expr(value))))
                case Loop():
                    self.loop(stmt)
                case Local(buffer):
                    gone = [p for p in self.written if p[0] == buffer.name]
                    for place in gone:
                        self.stores.pop(self.written.pop(place), None)

    def loop(self, loop: Loop) -> None:
        start = max(bound.evaluate(self.at) for bound in loop.starts)
        stop = min(bound.evaluate(self.at) for bound in loop.stops)
        vector = loop.kind == "vector"
        if vector and (self.lane or (stop - start) % self.lanes):
            raise self.wrong(
                f"the vector loop {loop.var} has {stop - start} iterations; the core needs "
                f"multiples of its {self.lanes} lanes, and no vector loop inside another"
            )
        self.lane = loop.var if vector else self.lane
        for i in range(start, stop, self.lanes if vector else 1):
            self.at[loop.var] = i
            self.block(loop.body)
        self.lane = "" if vector else self.lane

    def place(self, buffer: str, indices: Point) -> tuple[tuple[str, int], int]:
        """Where lane 0 is, and how many elements apart the lanes are."""
        linear, stride = Affine(), 1
        for index, size in zip(reversed(indices), reversed(self.buffers[buffer].type.dims),
                               strict=True):  # fmt: skip
            if not isinstance(index, Affine):
                raise self.wrong(f"an index of {buffer} comes from memory")
            linear, stride = linear + index * stride, stride * size
        first = linear.evaluate(self.at)
        apart = 1 if self.lanes == 1 else linear.coefficient(self.lane) if self.lane else 0
        if apart not in (0, 1):
            raise self.wrong(f"the lanes of {buffer} lie {apart} elements apart")
        return (buffer, first), apart

    def load(self, buffer: str, indices: Point) -> int:
        place, apart = self.place(buffer, indices)
        covered = [(buffer, place[1] + k) for k in range(self.lanes if apart else 1)]
        owners = {self.written.get(p) for p in covered}
        if owners == {place}:
            return self.stores[place]
        if owners != {None}:
            raise self.wrong(f"{buffer}[{place[1]}] is read with other lanes than it was written")
        if buffer not in self.params:
            raise self.wrong(f"{buffer}[{place[1]}] is read before it is written")
        return self.value(Value("load" if apart else "broadcast", (), place))

    def store(self, buffer: str, indices: Point, number: int) -> None:
        place, apart = self.place(buffer, indices)
        if buffer in self.params and not apart:
            raise self.wrong(f"{buffer} is written outside a vector loop; the core has no such "
                             "store")  # fmt: skip
        for element in range(place[1], place[1] + (self.lanes if apart else 1)):
            if self.written.setdefault((buffer, element), place) != place:
                raise self.wrong(f"{buffer}[{element}] is written with other lanes than before")
        self.stores[place] = number

    def expr(self, expr: Expr) -> int:
        match expr:
            case Const(value, _):
                return self.value(Value("const", number=float(value)))
            case Load(buffer, indices, _):
                return self.load(buffer, indices)
            case Call(fn, args, _):
                return self.call(fn, tuple(self.expr(a) for a in args))
        raise self.wrong("the core has no integers, so a loop variable cannot be a value")

    def call(self, fn: str, args: tuple[int, ...]) -> int:
        if fn not in SCALARS:
            raise self.wrong(f"the core has no {fn}; it has {', '.join(SCALARS)}")
        return self.value(Value(fn, args))

    def value(self, value: Value) -> int:
        text = repr(value)  # as numbers, 0.0 and -0.0 are equal
        if text not in self.known:
            self.known[text] = len(self.values)
            self.values.append(value)
            if len(self.values) > MOST:
                raise self.wrong(f"more than {MOST} values; give it smaller loops")
        return self.known[text]
