"""Random PTX programs from a seed, free of races and of what PTX leaves open.

    program = make(7)
    program.text, program.grid, program.block, program.arguments, program.fields

A program loads registers of all kinds from its own slots of an array, mixes them, and stores them
into its own slots of another one: `fields` says where and as which type. In between it branches and
loops as the thread decides; shuffles, votes and barriers stand where all threads come by.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .program_lines import COUNTS, REAL, WHOLE, Lines

BLOCKS = [(32,), (64,), (7,), (33,), (1,), (40,), (5, 3), (8, 4, 2), (3, 3, 5), (2, 31), (16, 2)]
GRIDS = [(1,), (1,), (2,), (3,), (2, 2), (1, 2, 2)]
MOST = 80  # threads of all blocks together
SLOT = 256  # bytes of a thread in each array
INTEGERS, REALS = 32, 32  # bytes of a thread's scratch that hold either
HEAD = """.version 8.3
.target sm_90
.address_size 64
.visible .entry random_program(.param .u64 from, .param .u64 into, .param .u64 scratch,
                               .param .u64 counts, .param .u32 salt)
{"""


@dataclass(frozen=True)
class Program:
    seed: int
    text: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: list
    fields: tuple[tuple[int, str], ...]  # where in a slot of `into`, as which type


def make(seed: int) -> Program:
    draw = random.Random(seed)
    block = draw.choice(BLOCKS)
    grid = draw.choice([g for g in GRIDS if np.prod(g) * np.prod(block) <= MOST])
    maker = Maker(draw, block, grid)
    text, every = maker.program(), maker.every
    arguments = [
        inputs(draw, every),
        np.zeros(every * SLOT, np.uint8),
        np.zeros(every * (INTEGERS + REALS), np.uint8),
        counts(draw),
        np.uint32(draw.getrandbits(32)),
    ]
    return Program(seed, text, grid, block, arguments, tuple(maker.fields))


def inputs(draw: random.Random, threads: int) -> np.ndarray:
    """Random bits, small numbers, and what is special about each type."""
    rng = np.random.default_rng(draw.getrandbits(32))
    data = rng.integers(0, 256, threads * SLOT, np.uint8)
    words = data.view(np.uint32)
    small = rng.random(len(words)) < 0.3
    words[small] = rng.integers(-40, 40, int(small.sum())).astype(np.int32).view(np.uint32)
    special = np.array([0, 1 << 31, (1 << 31) - 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000,
                        0x00000001, 0x7F7FFFFF, 0x3F000000, 0x00800000, 0x7FF00000, 0x3FF00000,
                        0xC0490FDB, 0x4B000001], np.uint32)  # fmt: skip
    chosen = rng.random(len(words)) < 0.15
    words[chosen] = rng.choice(special, int(chosen.sum()))
    real = rng.random(len(words)) < 0.2
    words[real] = rng.normal(0, 8, int(real.sum())).astype(np.float32).view(np.uint32)
    return data


def counts(draw: random.Random) -> np.ndarray:
    """Eight words for each kind of atomic."""
    size = 8 * len(ATOMICS) * 8
    return np.frombuffer(draw.randbytes(size), np.uint8).copy()


ATOMICS = ("add.u32", "add.u64", "min.s32", "max.s32", "min.u64", "max.s64", "and.b32", "or.b32",
           "xor.b32", "xor.b64", "min.u32")  # fmt: skip


class Maker:
    """Writes one program, line by line."""

    def __init__(self, draw: random.Random, block: tuple[int, ...], grid: tuple[int, ...]) -> None:
        self.draw = draw
        self.threads, self.every = int(np.prod(block)), int(np.prod(block) * np.prod(grid))
        self.lines = Lines(draw)
        self.put, self.pick = self.lines.put, self.lines.pick
        self.labels = 0
        self.fields: list[tuple[int, str]] = []

    def program(self) -> str:
        self.begin()
        for _ in range(self.draw.randint(6, 14)):
            self.statement(0, together=True)
        self.finish()
        return "\n".join([HEAD, *self.lines.declarations(self.threads), *self.lines.text, "}"])

    def label(self, name: str) -> str:
        self.labels += 1
        return f"{name}_{self.labels}"

    # ── the frame ──

    def begin(self) -> None:
        for line in (
            "ld.param.u64 %from, [from]", "ld.param.u64 %into, [into]",
            "ld.param.u64 %scratch, [scratch]", "ld.param.u64 %counts, [counts]",
            "cvta.to.global.u64 %from, %from", "ld.param.u32 %r0, [salt]",
            "mov.u32 %t0, %tid.z", "mov.u32 %t1, %ntid.y", "mov.u32 %t2, %tid.y",
            "mad.lo.u32 %t0, %t0, %t1, %t2", "mov.u32 %t1, %ntid.x", "mov.u32 %t2, %tid.x",
            "mad.lo.u32 %thread, %t0, %t1, %t2",
            "mov.u32 %t0, %ctaid.z", "mov.u32 %t1, %nctaid.y", "mov.u32 %t2, %ctaid.y",
            "mad.lo.u32 %t0, %t0, %t1, %t2", "mov.u32 %t1, %nctaid.x", "mov.u32 %t2, %ctaid.x",
            "mad.lo.u32 %t0, %t0, %t1, %t2",
            f"mad.lo.u32 %number, %t0, {self.threads}, %thread",
            f"mad.wide.u32 %from, %number, {SLOT}, %from",
            f"mad.wide.u32 %into, %number, {SLOT}, %into",
            f"mad.wide.u32 %scratch, %number, {INTEGERS + REALS}, %scratch",
            "mov.u32 %own, shared", "mad.lo.u32 %own, %thread, 16, %own",
        ):  # fmt: skip
            self.put(line)
        at = 0
        for name, type, size in self.lines.all_registers():
            at = -(-at // size) * size
            if name != "%r0":
                self.put(f"ld.global.{type} {name}, [%from+{at}]")
            at += size
        for k in (0, 8):
            self.put(f"st.local.b64 [own_memory+{k}], {self.pick('q')}")
        for k in range(COUNTS["p"]):
            self.put(f"setp.{self.draw.choice(['lt', 'ge', 'eq'])}.s32 %p{k}, "
                     f"{self.pick('r')}, {self.pick('r')}")  # fmt: skip

    def finish(self) -> None:
        at = 0
        registers = self.lines.all_registers()
        early = self.draw.randrange(len(registers)) if self.draw.random() < 0.3 else -1
        for k, (name, type, size) in enumerate(registers):
            if k == early:  # some threads end before the others
                self.put(f"@{self.pick('p')} {self.draw.choice(['ret', 'exit'])}")
            at = -(-at // size) * size
            self.put(f"st.global.{type} [%into+{at}], {name}")
            self.fields.append((at, {"b16": "f16"}.get(type, type)))
            at += size
        for k in range(COUNTS["p"]):
            self.put(f"selp.u32 %t0, 1, 0, %p{k}")
            self.put(f"st.global.u8 [%into+{at}], %t0")
            self.fields.append((at, "u8"))
            at += 1
        assert at <= SLOT
        self.put("ret")

    # ── statements ──

    def statement(self, depth: int, together: bool) -> None:
        kinds: list[tuple[int, Callable[[int, bool], None]]] = [
            (12, self.computing), (3, self.own_memory), (1, self.gather), (1, self.atomic),
            (1, self.own_atomic),
        ]  # fmt: skip
        if depth < 3:
            kinds += [(3, self.branch), (2, self.loop)]
        if together:
            kinds += [(2, self.exchange), (2, self.lanes), (1, self.shared_atomic),
                      (1, self.neighbours), (1, self.same_loop)]  # fmt: skip
        weights, makes = zip(*kinds, strict=True)
        self.draw.choices(makes, weights)[0](depth, together)

    def several(self, depth: int, together: bool, most: int = 3) -> None:
        for _ in range(self.draw.randint(1, most)):
            self.statement(depth + 1, together)

    def computing(self, depth: int, together: bool) -> None:
        self.lines.compute()

    def branch(self, depth: int, together: bool) -> None:
        other, end = self.label("OTHER"), self.label("END")
        with_other = self.draw.random() < 0.6
        if self.draw.random() < 0.6:
            self.lines.comparison()
        self.put(f"@{self.lines.guard()} bra {other if with_other else end}")
        self.several(depth, False)
        if with_other:
            self.put(f"bra {end}")
            self.put(f"{other}:")
            self.several(depth, False)
        self.put(f"{end}:")

    def loop(self, depth: int, together: bool) -> None:
        """As often as the thread says, at most four times; some leave it early."""
        again, done, count = self.label("AGAIN"), self.label("DONE"), f"%i{depth}"
        self.put(f"and.b32 {count}, {self.pick('r')}, 3")
        if self.draw.random() < 0.4:  # perhaps not once
            self.put(f"setp.eq.u32 %loop, {count}, 0")
            self.put(f"@%loop bra {done}")
        self.put(f"{again}:")
        self.several(depth, False)
        if self.draw.random() < 0.4:
            self.put(f"@{self.lines.guard()} bra {done}")
            self.several(depth, False, most=1)
        self.put(f"sub.s32 {count}, {count}, 1")
        self.put(f"setp.gt.s32 %loop, {count}, 0")
        self.put(f"@%loop bra {again}")
        self.put(f"{done}:")

    def same_loop(self, depth: int, together: bool) -> None:
        """All threads go round as often: barriers and shuffles may stand in it."""
        if depth:
            return
        again = self.label("AGAIN")
        self.put("mov.u32 %i9, 0")
        self.put(f"{again}:")
        self.several(depth, True)
        self.put("add.s32 %i9, %i9, 1")
        self.put(f"setp.lt.s32 %loop, %i9, {self.draw.randint(1, 3)}")
        self.put(f"@%loop bra {again}")

    # ── memory ──

    def access(self, space: str, base: str, start: int, room: int, kinds: dict) -> None:
        """Store something into the thread's own bytes, or load it; sometimes several at once."""
        kind, type, size = self.draw.choice(
            [(k, t, n) for k, types in kinds.items() for t, n in types]
        )
        most = [n for n in (1, 1, 2, 4) if n * size <= 16]
        count = self.draw.choice(most)
        offset = start + self.draw.randrange(0, room, size * count)
        vector = f".v{count}" if count > 1 else ""
        names = self.draw.sample(self.lines.names(kind), count)
        value = f"{{{', '.join(names)}}}" if count > 1 else names[0]
        address = f"[{base}+{offset}]"
        guard = self.lines.perhaps()
        if self.draw.random() < 0.5:
            self.put(f"{guard}st.{space}{vector}.{type} {address}, {value}")
        else:
            self.put(f"{guard}ld.{space}{vector}.{type} {value}, {address}")

    def own_memory(self, depth: int, together: bool) -> None:
        where = self.draw.choice(["integers", "reals", "local"])
        if where == "local":
            self.access("local", "own_memory", 0, 16, WHOLE)
        elif where == "integers":
            self.access("global", "%scratch", 0, INTEGERS, WHOLE)
        else:
            self.access("global", "%scratch", INTEGERS, REALS, {"f": REAL["f"]})

    def gather(self, depth: int, together: bool) -> None:
        """From any thread's slot of the input."""
        kind, type, size = self.draw.choice([("r", "b32", 4), ("f", "f32", 4), ("q", "b64", 8),
                                             ("r", "s16", 2), ("r", "u8", 1)])  # fmt: skip
        target = self.lines.target(kind)
        room = 1 << ((self.every * SLOT).bit_length() - 1)
        self.put(f"and.b32 %t0, {self.pick('r')}, {room - size}")
        self.put("ld.param.u64 %u0, [from]")
        self.put("cvt.u64.u32 %u1, %t0")
        self.put("add.s64 %u0, %u0, %u1")
        self.put(f"{self.lines.perhaps()}ld.global{self.draw.choice(['', '.nc'])}.{type} "
                 f"{target}, [%u0]")  # fmt: skip

    def atomic(self, depth: int, together: bool) -> None:
        """All threads' changes of one word are of one kind: their order does not matter."""
        n = self.draw.randrange(len(ATOMICS))
        how, type = ATOMICS[n].split(".")
        wide = type.endswith("64")
        value = self.pick("q" if wide else "r")
        self.put(f"and.b32 %t0, {self.pick('r')}, 7")
        self.put("mad.wide.u32 %u0, %t0, 8, %counts")
        guard, address = self.lines.perhaps(), f"[%u0+{64 * n}]"
        if self.draw.random() < 0.5:
            self.put(f"{guard}red.global.{how}.{type} {address}, {value}")
        else:  # what it found depends on the order, so nobody looks
            self.put(f"{guard}atom.global.{how}.{type} {'%u0' if wide else '%t0'}, "
                     f"{address}, {value}")  # fmt: skip

    def own_atomic(self, depth: int, together: bool) -> None:
        """A word of its own: here it matters what the atomic found."""
        how = self.draw.choice(["add.u32", "exch.b32", "inc.u32", "dec.u32", "max.s32", "cas.b32",
                                "and.b32"])  # fmt: skip
        values = ", ".join([self.pick("r")] + [self.pick("r")] * how.startswith("cas"))
        at = self.draw.randrange(0, INTEGERS, 4)
        self.put(f"{self.lines.perhaps()}atom.global.{how} {self.lines.target('r')}, "
                 f"[%scratch+{at}], {values}")  # fmt: skip

    # ── with the others ──

    def exchange(self, depth: int, together: bool) -> None:
        """Each thread writes its slot of shared memory, and reads another one's."""
        kind, type, size = self.draw.choice([("r", "b32", 4), ("f", "f32", 4), ("q", "b64", 8),
                                             ("d", "f64", 8), ("r", "u16", 2)])  # fmt: skip
        count = self.draw.choice([n for n in (1, 2, 4) if 4 <= n * size <= 16] or [1])
        vector = f".v{count}" if count > 1 else ""

        def value(names: list[str]) -> str:
            return f"{{{', '.join(names)}}}" if count > 1 else names[0]

        self.put(f"st.shared{vector}.{type} [%own], "
                 f"{value([self.pick(kind) for _ in range(count)])}")  # fmt: skip
        self.put("bar.sync 0")
        self.put(f"add.u32 %t0, %thread, {self.draw.randrange(self.threads)}")
        self.put(f"rem.u32 %t0, %t0, {self.threads}")
        self.put("mov.u32 %t1, shared")
        self.put("mad.lo.u32 %t1, %t0, 16, %t1")
        names = self.draw.sample(self.lines.names(kind), count)
        self.put(f"{self.lines.perhaps()}ld.shared{vector}.{type} {value(names)}, [%t1]")
        self.put(self.draw.choice(["bar.sync 0", "barrier.sync.aligned 0"]))

    def neighbours(self, depth: int, together: bool) -> None:
        """Words of another thread's slot one by one, which ptxas may load together."""
        kind, type = self.draw.choice([("r", "b32"), ("f", "f32")])
        values = ", ".join(self.pick(kind) for _ in range(4))
        self.put(f"st.shared.v4.{type} [%own], {{{values}}}")
        self.put("bar.sync 0")
        self.put(f"xor.b32 %t0, %thread, {self.draw.randrange(4)}")
        self.put(f"rem.u32 %t0, %t0, {self.threads}")
        self.put("mov.u32 %t1, shared")
        self.put("mad.lo.u32 %t1, %t0, 16, %t1")
        for k in self.draw.choices(range(4), k=self.draw.randint(2, 6)):
            self.put(f"ld.shared.{type} {self.pick(kind)}, [%t1+{4 * k}]")
            if self.draw.random() < 0.3:
                self.lines.compute()
        self.put("bar.sync 0")

    def shared_atomic(self, depth: int, together: bool) -> None:
        how = self.draw.choice(["add.u32", "max.s32", "xor.b32", "min.u32"])
        self.put(f"st.shared.b32 [%own], {self.pick('r')}")
        self.put("bar.sync 0")
        self.put(f"rem.u32 %t0, {self.pick('r')}, {self.threads}")
        self.put("mov.u32 %t1, shared")
        self.put("mad.lo.u32 %t1, %t0, 16, %t1")
        self.put(f"{self.lines.perhaps()}red.shared.{how} [%t1], {self.pick('r')}")
        self.put("bar.sync 0")
        self.put(f"ld.shared.u32 {self.lines.target('r')}, [%own]")
        self.put("bar.sync 0")

    def lanes(self, depth: int, together: bool) -> None:
        if self.draw.random() < 0.4:
            return self.lines.vote()
        rest = self.threads % 32
        if rest:  # lanes that every warp has
            return self.lines.shuffle("idx", str(self.draw.randrange(rest)), "31")
        how = self.draw.choice(["up", "down", "bfly", "idx"])
        by = self.draw.choice([self.pick("r"), str(self.draw.randrange(32))])
        segment = self.draw.choice([0, 0, 16, 24, 28])
        return self.lines.shuffle(how, by, str((segment << 8) | (0 if how == "up" else 31)))
