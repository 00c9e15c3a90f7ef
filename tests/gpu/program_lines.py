"""Lines of random programs that compute: an operation, its types, and registers that fit.

Registers by kind: r and q are whole numbers of 32 and 64 bits, f, d and h floats of 32, 64 and 16,
p predicates. Bits of floats become whole numbers only where they are no NaN, whose payload is open.
"""

from __future__ import annotations

import random
import struct

COUNTS = {"r": 6, "q": 3, "f": 5, "d": 3, "h": 2, "p": 4}
TYPES = {"r": "b32", "q": "b64", "f": "f32", "d": "f64", "h": "b16"}
SIZES = {"r": 4, "q": 8, "f": 4, "d": 8, "h": 2}
WHOLE = {"r": [("b32", 4), ("s32", 4), ("u16", 2), ("s16", 2), ("s8", 1), ("u8", 1)],
         "q": [("b64", 8), ("u64", 8)]}  # fmt: skip
REAL = {"f": [("f32", 4)], "d": [("f64", 8)]}

# what is to be written, the kinds of the result and of the operands
WORD = ["add.s32", "sub.s32", "add.u32", "mul.lo.s32", "mul.lo.u32", "mul.hi.s32", "mul.hi.u32",
        "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32", "shl.b32",
        "shr.u32", "shr.s32", "add.sat.s32", "sub.sat.s32",
        "mul24.lo.u32", "mul24.lo.s32"]  # fmt: skip
LONG = ["add.s64", "sub.u64", "mul.lo.s64", "mul.hi.s64", "mul.hi.u64", "min.s64", "max.u64",
        "and.b64", "or.b64", "xor.b64", "max.s64", "min.u64"]  # fmt: skip
HALF = ["add.rn.f16", "sub.rn.f16", "mul.rn.f16", "min.f16", "max.f16"]
REALS = ["add", "add.rn", "sub.rn", "mul.rn", "mul", "div.rn", "min", "max"]
FLAGS = ["add.ftz", "mul.rn.ftz", "sub.sat", "mul.ftz.sat", "add.rn.sat", "min.NaN", "max.NaN",
         "max.ftz", "div.rn.ftz"]  # fmt: skip
FORMS: list[tuple[str, str, str]] = [
    *((o, "r", "rr") for o in WORD), *((o, "q", "qq") for o in LONG),
    *((o, "h", "hh") for o in HALF),
    *((f"{o}.f32", "f", "ff") for o in REALS + FLAGS), *((f"{o}.f64", "d", "dd") for o in REALS),
    *((o, "q", "qr") for o in ("shl.b64", "shr.u64", "shr.s64")),
    *((o, "q", "rr") for o in ("mul.wide.s32", "mul.wide.u32")),
    *((o, "q", "rrq") for o in ("mad.wide.s32", "mad.wide.u32")),
    *((o, "r", "rrr") for o in ("mad.lo.s32", "mad.hi.s32", "mad.hi.u32", "sad.s32", "sad.u32",
                                "shf.l.wrap.b32", "shf.r.wrap.b32", "shf.l.clamp.b32",
                                "shf.r.clamp.b32", "bfe.s32", "bfe.u32", "prmt.b32")),
    *((o, "q", "qqq") for o in ("mad.lo.s64", "mad.lo.u64")),
    *((o, "q", "qrr") for o in ("bfe.s64", "bfe.u64")),
    ("bfi.b32", "r", "rrrr"), ("bfi.b64", "q", "qqrr"), ("slct.b32.s32", "r", "rrr"),
    ("slct.f32.f32", "f", "fff"), ("slct.f32.s32", "f", "ffr"),
    *((o, "r", "r") for o in ("popc.b32", "clz.b32", "brev.b32", "bfind.u32", "bfind.s32",
                              "bfind.shiftamt.u32", "abs.s32", "neg.s32", "not.b32", "cnot.b32",
                              "mov.b32", "mov.u32", "cvt.s32.s8", "cvt.u32.u16", "cvt.s8.s32",
                              "cvt.sat.u8.s32", "cvt.sat.s8.s32", "cvt.sat.u16.u32",
                              "cvt.sat.s32.u32", "cvt.sat.u32.s32", "cvt.u16.u32")),
    *((o, "r", "q") for o in ("popc.b64", "clz.b64", "bfind.s64", "cvt.u32.u64", "cvt.sat.s32.s64",
                              "cvt.sat.u32.u64")),
    *((o, "q", "r") for o in ("cvt.s64.s32", "cvt.u64.u32", "cvt.sat.u64.s32", "cvt.s64.s16")),
    *((o, "q", "q") for o in ("brev.b64", "not.b64", "neg.s64", "abs.s64", "mov.b64")),
    *((f"fma.rn{o}.f32", "f", "fff") for o in ("", ".ftz", ".sat", "", "")),
    ("fma.rn.f64", "d", "ddd"), ("fma.rn.f64", "d", "ddd"), ("fma.rn.f16", "h", "hhh"),
    *((f"{o}.f32", "f", "f") for o in ("neg", "abs", "neg.ftz", "abs.ftz", "sqrt.rn", "rcp.rn",
                                       "mov", "cvt.rni.f32", "cvt.rzi.f32", "cvt.rmi.f32",
                                       "cvt.rpi.f32", "cvt.sat.f32", "cvt.rni.ftz.f32")),
    *((f"{o}.f64", "d", "d") for o in ("neg", "abs", "sqrt.rn", "rcp.rn", "mov", "cvt.rmi.f64")),
    *((f"cvt.{r}.{t}.f32", "r", "f") for r in ("rni", "rzi", "rmi", "rpi") for t in ("s32", "u32")),
    *((f"cvt.rzi.{t}.f32", "r", "f") for t in ("s16", "u8", "s8", "u16")),
    *((f"cvt.{r}.{t}.{s}", "q", k) for r in ("rni", "rzi", "rpi") for t in ("s64", "u64")
      for s, k in (("f32", "f"), ("f64", "d"))),
    *((f"cvt.{r}.{t}.f64", "r", "d") for r in ("rzi", "rmi") for t in ("s32", "u32")),
    *((f"cvt.rn.f32.{t}", "f", k) for t, k in (("s32", "r"), ("u32", "r"), ("s64", "q"),
                                               ("u64", "q"), ("s8", "r"), ("f64", "d"))),
    *((f"cvt.rn.f64.{t}", "d", k) for t, k in (("s32", "r"), ("s64", "q"), ("u64", "q"))),
    ("cvt.f64.f32", "d", "f"), ("cvt.rn.f16.f32", "h", "f"), ("cvt.f32.f16", "f", "h"),
    ("cvt.rn.f16.f64", "h", "d"), ("cvt.rn.f16.s32", "h", "r"), ("cvt.rzi.s32.f16", "r", "h"),
    ("cvt.rn.sat.f32.f64", "f", "d"), ("cvt.rn.ftz.f32.s32", "f", "r"),
    ("set.lt.u32.f32", "r", "ff"), ("set.ge.f32.s32", "f", "rr"), ("set.ne.u32.u32", "r", "rr"),
    *((f"{o}.pred", "p", "pp") for o in ("and", "or", "xor")), ("not.pred", "p", "p"),
    *((f"testp.{o}.f32", "p", "f") for o in ("finite", "infinite", "number", "notanumber",
                                             "normal", "subnormal")),
    *((o, k, k + k + "p") for o, k in (("selp.b32", "r"), ("selp.f32", "f"), ("selp.b64", "q"),
                                       ("selp.f64", "d"), ("selp.s32", "r"))),
]  # fmt: skip
QUOTIENTS = [(f"{o}.{t}", k) for o in ("div", "rem")
             for t, k in (("s32", "r"), ("u32", "r"), ("s64", "q"), ("u64", "q"))]  # fmt: skip
COMPARED = [
    *((f"{c}.s32", "r") for c in ("eq", "ne", "lt", "le", "gt", "ge")),
    *((f"{c}.u32", "r") for c in ("lo", "ls", "hi", "hs", "lt", "ge")),
    *((f"{c}.s64", "q") for c in ("lt", "ge", "ne")), *((f"{c}.u64", "q") for c in ("gt", "ls")),
    ("eq.b32", "r"), ("ne.b64", "q"),
    *((f"{c}.f32", "f") for c in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                                  "gtu", "geu", "num", "nan", "lt.ftz", "gt.ftz", "ne.ftz")),
    *((f"{c}.f64", "d") for c in ("lt", "neu", "geu")),
]  # fmt: skip


class Lines:
    """The text so far, and registers to draw from."""

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.text = draw, []

    def put(self, line: str) -> None:
        self.text.append(line if line.endswith(":") else f"  {line};")

    def names(self, kind: str) -> list[str]:
        return [f"%{kind}{k}" for k in range(COUNTS[kind])]

    def pick(self, kind: str) -> str:
        return self.draw.choice(self.names(kind))

    target = pick

    def all_registers(self) -> list[tuple[str, str, int]]:
        """Name, type and bytes of each but the predicates, the largest first."""
        return [(name, TYPES[kind], SIZES[kind]) for kind in sorted(SIZES, key=lambda k: -SIZES[k])
                for name in self.names(kind)]  # fmt: skip

    def declarations(self, threads: int) -> list[str]:
        families = [f"  .reg .{TYPES.get(k, 'pred')} %{k}<{n}>;" for k, n in COUNTS.items()]
        return [
            *families, "  .reg .b32 %t<4>, %i<10>, %thread, %number, %own;", "  .reg .pred %loop;",
            "  .reg .b64 %u<2>, %from, %into, %scratch, %counts;", "  .reg .f32 %x<2>;",
            f"  .shared .align 16 .b8 shared[{16 * threads}];",
            "  .local .align 8 .b8 own_memory[16];",
        ]  # fmt: skip

    def guard(self) -> str:
        return f"{self.draw.choice(['', '!'])}{self.pick('p')}"

    def perhaps(self) -> str:
        return f"@{self.guard()} " if self.draw.random() < 0.25 else ""

    def operand(self, kind: str) -> str:
        """A register, mostly; else a number."""
        if self.draw.random() < 0.8 or kind in "hp":
            negated = "!" if kind == "p" and self.draw.random() < 0.3 else ""
            return negated + self.pick(kind)
        if kind in "rq":
            return str(self.draw.choice([0, 1, 2, 3, 7, 16, 31, 32, 33, 255, -1, -2, 127]))
        x = self.draw.choice([0.0, -0.0, 1.0, -1.5, 0.1, 1e30, 3e-39, 0.5, self.draw.gauss(0, 100)])
        code, digit = (">f", "0f") if kind == "f" else (">d", "0d")
        return digit + struct.pack(code, x).hex().upper()

    def compute(self) -> None:
        what = self.draw.random()
        if what < 0.12:
            self.comparison()
        elif what < 0.17:
            self.quotient()
        elif what < 0.22:
            self.packing()
        elif what < 0.25:
            self.bits_of_float()
        elif what < 0.28:
            a, b, c = (self.pick("r") for _ in range(3))
            table = self.draw.randrange(256)
            self.put(f"{self.perhaps()}lop3.b32 {self.target('r')}, {a}, {b}, {c}, {table:#x}")
        else:
            opcode, result, kinds = self.draw.choice(FORMS)
            operands = [self.operand(kind) for kind in kinds]
            if not any("%" in o for o in operands):
                operands[0] = self.pick(kinds[0])
            if opcode.startswith("bf"):  # places and counts are bytes
                operands = [o.replace("-", "") for o in operands]
            if opcode.startswith(("not.pred", "and.pred", "or.pred", "xor.pred")):
                operands = [o.removeprefix("!") for o in operands]
            if opcode.startswith("selp"):
                operands[2] = operands[2].removeprefix("!")
            self.put(f"{self.perhaps()}{opcode} {self.target(result)}, {', '.join(operands)}")

    def comparison(self) -> None:
        how, kind = self.draw.choice(COMPARED)
        a, b = self.pick(kind), self.operand(kind)
        form = self.draw.random()
        compare, type = how.rsplit(".", 1)
        if form < 0.3:
            compare, _, flush = compare.partition(".")
            other = self.draw.choice(["and", "or", "xor"])
            flush = f".{flush}" if flush else ""
            self.put(f"{self.perhaps()}setp.{compare}.{other}{flush}.{type} {self.target('p')}, "
                     f"{a}, {b}, {self.operand('p')}")  # fmt: skip
        elif form < 0.45:
            first, second = self.draw.sample(self.names("p"), 2)
            self.put(f"{self.perhaps()}setp.{how} {first}|{second}, {a}, {b}")
        else:
            self.put(f"{self.perhaps()}setp.{how} {self.target('p')}, {a}, {b}")

    def quotient(self) -> None:
        """By what is not 0, and is no -1 either: what the most negative number gives is open."""
        opcode, kind = self.draw.choice(QUOTIENTS)
        by, bits = ("%t0", "b32") if kind == "r" else ("%u0", "b64")
        self.put(f"and.{bits} {by}, {self.pick(kind)}, {self.draw.choice([0xFF, 0x7FFFFFFF, 7])}")
        self.put(f"or.{bits} {by}, {by}, 1")
        self.put(f"{self.perhaps()}{opcode} {self.target(kind)}, {self.pick(kind)}, {by}")

    def packing(self) -> None:
        a, b = self.draw.sample(self.names("r"), 2)
        if self.draw.random() < 0.5:
            self.put(f"{self.perhaps()}mov.b64 {self.target('q')}, {{{a}, {b}}}")
        else:
            self.put(f"{self.perhaps()}mov.b64 {{{a}, {b}}}, {self.pick('q')}")

    def bits_of_float(self) -> None:
        """Bits of a float as a whole number, 1.0 instead of NaN; or the other way round."""
        if self.draw.random() < 0.4:
            return self.put(f"{self.perhaps()}mov.b32 {self.target('f')}, {self.pick('r')}")
        source = self.pick("f")
        self.put(f"setp.num.f32 %loop, {source}, {source}")
        self.put(f"selp.f32 %x0, {source}, 0f3F800000, %loop")
        return self.put(f"{self.perhaps()}mov.b32 {self.target('r')}, %x0")

    # ── lanes ──

    def vote(self) -> None:
        how = self.draw.choice(["all", "any", "uni", "ballot"])
        ballot = how == "ballot"
        target = self.target("r" if ballot else "p")
        self.put(f"vote.sync.{how}.{'b32' if ballot else 'pred'} {target}, {self.pick('p')}, -1")

    def shuffle(self, how: str, by: str, bounds: str) -> None:
        kind = self.draw.choice("rrf")
        pair = f"|{self.pick('p')}" if self.draw.random() < 0.5 else ""
        self.put(f"shfl.sync.{how}.b32 {self.target(kind)}{pair}, {self.pick(kind)}, {by}, "
                 f"{bounds}, -1")  # fmt: skip
