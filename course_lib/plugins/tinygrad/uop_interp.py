"""What a listing means: numpy computes each line for all lanes of all groups at once.

    Run(lines, [c, a, b], grid=(1, 1, 1), lanes=(8, 1, 1), multiply=chip).run()

A value is an array with a number for each lane, or one number for all. A loop runs in Python, so
its variable is one number. Products of tiles are not computed where they stand: `wmma` writes down
which tiles will be multiplied, and further products are added to the same sums. Once somebody wants
to see a number, all that was written down goes to the matrix unit as one piece of work, in which
sums stay in its accumulators. Two tiles are the same if their lines and all loop and group numbers
that these depend on are: nothing here depends on a value. Next room: `scalars.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product as pairs
from typing import Any, NamedTuple

import numpy as np

from course_lib.accelerator.compile.unit import TileWork
from course_lib.plugins.tinygrad.listing import Line
from course_lib.plugins.tinygrad.scalars import compute, literal

Multiply = Callable[[TileWork, np.ndarray, np.ndarray], np.ndarray]
Key = tuple[int, ...]


class Tile(NamedTuple):
    """An operand of a product: one tile for each warp, and what makes it this one."""

    keys: list[Key]
    values: np.ndarray  # [warps, rows, cols]


@dataclass(eq=False)
class Sums:
    """A tile of sums for each warp, not known yet: `start` and the products that are added."""

    start: np.ndarray
    products: list[tuple[Tile, Tile]]
    values: np.ndarray | None = None


class Share(NamedTuple):
    """Of such sums, the number at this place in each lane."""

    sums: Sums
    place: int


class Address(NamedTuple):
    memory: Any
    at: Any


@dataclass(eq=False)
class Run:
    """A kernel while it runs.

    arguments     its buffers, as bytes          numbers   those that only the call knows
    grid, lanes   how many groups there are along three axes, and lanes in a group; a warp lies
                  along the first axis of lanes
    multiply      what multiplies tiles
    on_host       products of tiles that `multiply` did not get
    """

    lines: Sequence[Line]
    arguments: Sequence[np.ndarray]
    grid: tuple[int, ...]
    lanes: tuple[int, ...]
    multiply: Multiply
    numbers: Sequence[int] = ()
    values: dict[int, Any] = field(default_factory=dict)
    masks: list[Any] = field(default_factory=list)
    open: list[Sums] = field(default_factory=list)
    on_host: int = 0

    def __post_init__(self) -> None:
        sizes = (*self.grid[::-1], *self.lanes[::-1])
        self.count = int(np.prod(sizes))
        places = np.indices(sizes, np.int32).reshape(6, -1)
        names: tuple[str, ...] = ("g2", "g1", "g0", "l2", "l1", "l0")
        self.places: dict[str, np.ndarray] = dict(zip(names, places, strict=True))
        self.depends = dependences(self.lines)
        self.ends = {line.args[0]: at for at, line in enumerate(self.lines) if line.op == "end"}
        self.starts = {line.name: at for at, line in enumerate(self.lines) if line.op == "range"}

    def run(self) -> None:
        at = 0
        with np.errstate(all="ignore"):
            while at < len(self.lines):
                at = self.step(self.lines[at], at)

    def step(self, line: Line, at: int) -> int:
        """One line; the place of the next."""
        if line.op == "range":
            return self.loop(line, at)
        if line.op == "end":
            return self.starts[line.args[0]]
        if line.op == "if":
            self.masks.append(self.number(line.args[0]))
        elif line.op == "endif":
            self.masks.pop()
        elif line.op == "store":
            self.store(*line.args)
        else:
            self.values[line.name] = self.value(line)
        return at + 1

    def loop(self, line: Line, at: int) -> int:
        now = self.values.get(line.name)
        now = line.dtype.type(0 if now is None else now + 1)
        if now < self.number(line.args[0]):
            self.values[line.name] = now
            return at + 1
        self.values.pop(line.name, None)
        return self.ends[line.name] + 1

    # ── values ──

    def value(self, line: Line) -> Any:
        match line.op:
            case "const":
                return literal(line)
            case "param":
                return self.arguments[line.slot].view(line.dtype)
            case "value":
                slots = sorted(other.slot for other in self.lines if other.op == "value")
                return line.dtype.type(self.numbers[slots.index(line.slot)])
            case "register":
                return [None] * line.size
            case "special":
                name, _, _ = line.more.partition("=")
                return self.places[name[0] + name[-1]].astype(line.dtype)
            case "index":
                return Address(self.values[line.args[0]], self.number(line.args[1]))
            case "load":
                return self.load(line)
            case "stack":
                return [self.values[arg] for arg in line.args]
            case "pick":
                return self.pick(*line.args)
            case "wmma":
                return self.wmma(line)
        return compute(line, [self.number(arg) for arg in line.args])

    def number(self, name: int) -> Any:
        """A value that must be known now."""
        return self.known(self.values[name])

    def known(self, value: Any) -> Any:
        """A number for each lane; sums that somebody wants to see are computed with all others."""
        if not isinstance(value, Share):
            return value
        sums = value.sums
        if sums.values is None:
            self.open += [] if sums in self.open else [sums]  # more was added to them elsewhere
            self.close()
        assert sums.values is not None
        return sums.values[value.place]

    def load(self, line: Line) -> Any:
        address: Address = self.values[line.args[0]]
        if isinstance(address.memory, list):
            return address.memory[int(address.at)]
        if len(line.args) == 1:
            return address.memory[address.at]
        otherwise, gate = (self.number(arg) for arg in line.args[1:])
        inside = np.where(gate, address.at, 0)
        return np.where(gate, address.memory[inside], otherwise)

    def store(self, place: int, name: int) -> None:
        address: Address = self.values[place]
        if isinstance(address.memory, list):
            address.memory[int(address.at)] = self.values[name]
            return
        value = np.broadcast_to(self.number(name), self.count)
        at = np.broadcast_to(address.at, self.count)
        if self.masks:
            open_ = np.broadcast_to(reduce(np.logical_and, self.masks), self.count)
            at, value = at[open_], value[open_]
        address.memory[at] = value

    def pick(self, stack: int, place: int) -> Any:
        value, at = self.values[stack], int(self.number(place))
        return Share(value, at) if isinstance(value, Sums) else value[at]

    # ── products of tiles ──

    def wmma(self, line: Line) -> Sums:
        """Add a product to sums that are not known yet, or begin new ones."""
        sizes, warp, where = line.more.split(",")
        m, k, n = map(int, sizes.split("x"))
        if self.lanes[0] != int(warp):
            raise NotImplementedError(f"a warp has {warp} lanes, but they lie as {self.lanes}")
        a = Tile(self.keys(line.args[0]), self.tile(self.values[line.args[0]], m, k))
        b = Tile(self.keys(line.args[1]), self.tile(self.values[line.args[1]], k, n))
        before = _unknown(self.values[line.args[2]])
        if where != "chip" or before is None:
            before = Sums(self.tile(self.values[line.args[2]], m, n), [])
        if where != "chip":
            self.on_host += 1
            total = (before.start + a.values @ b.values).astype(np.int32)
            return Sums(before.start, [], self.spread(total))
        self.open = [sums for sums in self.open if sums is not before]
        self.open.append(Sums(before.start, [*before.products, (a, b)]))
        return self.open[-1]

    def tile(self, stack: Sequence[Any], rows: int, cols: int) -> np.ndarray:
        """[warps, rows, cols]: a lane brings its number and each that is a warp further."""
        held = [np.broadcast_to(self.known(value), self.count) for value in stack]
        return np.stack([v.reshape(-1, self.lanes[0]) for v in held], 1).reshape(-1, rows, cols)

    def spread(self, tiles: np.ndarray) -> np.ndarray:
        """The other way: [numbers of a lane, all lanes]."""
        parts = tiles.reshape(len(tiles), -1, self.lanes[0])
        return parts.transpose(1, 0, 2).reshape(parts.shape[1], -1)

    def keys(self, name: int) -> list[Key]:
        """For each warp what makes this tile: its line, and the loops and groups it depends on."""
        needed = [self.values[other] for other in self.depends[name] if other != name]
        held = [np.broadcast_to(v, self.count)[:: self.lanes[0]].tolist() for v in needed]
        warps = self.count // self.lanes[0]
        return [(name, *rest) for rest in (zip(*held, strict=True) if held else [()] * warps)]

    def close(self) -> None:
        """All products that were written down, on the matrix unit: warp by warp, because the sums
        of one warp share tiles."""
        if not self.open:
            return
        warps = self.count // self.lanes[0]
        known: tuple[dict[Key, int], dict[Key, int]] = {}, {}
        tiles: tuple[list, list] = [], []
        chains = []
        for warp, sums in pairs(range(warps), self.open):
            chain = []
            for operands in sums.products:
                for side, tile in enumerate(operands):
                    if tile.keys[warp] not in known[side]:
                        known[side][tile.keys[warp]] = len(tiles[side])
                        tiles[side].append(tile.values[warp])
                chain.append(tuple(known[k][tile.keys[warp]] for k, tile in enumerate(operands)))
            chains.append(chain)
        a, b = (np.stack(values).astype(np.int8) for values in tiles)
        products = self.multiply(TileWork(chains, len(a), len(b)), a, b)
        for number, sums in enumerate(self.open):
            results = sums.start + products[number :: len(self.open)]
            sums.values = self.spread(results.astype(np.int32))
        self.open.clear()


def _unknown(stack: Sequence[Any]) -> Sums | None:
    """The sums that these are, all numbers in order, if nobody knows them yet."""
    first = stack[0]
    if not isinstance(first, Share) or first.sums.values is not None:
        return None
    return first.sums if list(stack) == [Share(first.sums, k) for k in range(len(stack))] else None


def dependences(lines: Sequence[Line]) -> dict[int, tuple[int, ...]]:
    """For each line the loops and the places of groups that it depends on; not the lane's place in
    its warp, which all tiles depend on. What a register holds may depend on all of them."""
    known: dict[int, frozenset[int]] = {}
    registers = {line.name for line in lines if line.op == "register"}
    cells = {line.name for line in lines if line.op == "index" and line.args[0] in registers}
    places: frozenset[int] = frozenset()  # loops that are open, and places of groups
    for line in lines:
        own = line.op == "range" or (line.op == "special" and not line.more.startswith("lidx0"))
        places |= {line.name} if own else frozenset()
        places -= {line.args[0]} if line.op == "end" else frozenset()
        used = frozenset().union(*(known.get(arg, frozenset()) for arg in line.args))
        used |= {line.name} if own else frozenset()
        known[line.name] = used | (places if line.op == "load" and line.args[0] in cells else used)
    return {name: tuple(sorted(used)) for name, used in known.items()}
