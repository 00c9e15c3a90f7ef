"""Visible checks of the lab beside unit 15. Here: texts as Inductor writes them, made up, and what
`launched` must say of them. Next room: loops.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from lessons.u15_lab_block.text import BY_GPU, BY_INDUCTOR

NAME = "u15_lab_block.launched"
SAY = "Annotate each launch of `call`: what it holds, and what it moves"
ROWS = "a tuple for each launch, in the order of `call`"
IS = "A launch is a call of a kernel that is defined above, in Triton by its method `run`"
OFTEN = "A kernel may be launched several times, or not at all"
HELD = "Its operations are named in the comment above it, in the lines with `call_function`"
NONE = "The list is empty for a kernel in C++ and for a function of a library"
FOUR = "Every number has 4 bytes, and arrays are read and written whole"
ROLES = "it reads what it gets as in_ptr, writes what it gets as out_ptr, and does both"
OUT = "A function of a library writes `out=` and reads its other arrays"
SIZES = "The sizes of an array stand before its strides in `assert_size_stride`"
PART = "`reinterpret_tensor`, which may itself be an argument; `()` is one number"
ALIAS = "both names mean the same array"
SAYS = {0: IS, 1: HELD, 2: ROLES, 3: ROLES}
OPS: list[str] = ["mul", "add", "tanh", "_softmax", "amax", "log1p", "native_layer_norm"]
LIBRARY = {"mm": 2, "bmm": 2, "addmm": 3, "baddbmm": 3}
shapes = st.lists(st.sampled_from([1, 2, 3, 5, 16, 64]), min_size=1, max_size=4).map(tuple)

background(NAME, "text what Inductor wrote for a module, shortened", because="what is given")


@dataclass
class Text:
    """A text under construction. `rows` is what must be said of its launches; `arrays` holds the
    sizes of those that exist, `roles` what a kernel's pointers are for, `held` its operations."""

    draw: DrawFn
    gpu: bool
    kernels: list[str] = field(default_factory=list)
    call: list[str] = field(default_factory=list)
    arrays: dict[str, tuple[int, ...]] = field(default_factory=dict)
    roles: dict[str, list[str]] = field(default_factory=dict)
    held: dict[str, list[str]] = field(default_factory=dict)
    rows: list[tuple] = field(default_factory=list)

    def __str__(self) -> str:
        names = ", ".join(name for name in self.arrays if name.startswith("arg"))
        call = [f"def call(args):\n    {names}, = args", *(f"    {line}" for line in self.call)]
        return "\n".join([*self.kernels, *call]) + "\n"

    def one_of(self, some: Any) -> Any:
        return self.draw(st.sampled_from([*some]))

    def kernel(self) -> None:
        """A kernel with some pointers and some operations."""
        roles = ["in_out"] * self.draw(st.integers(0, 1)) + ["in"] * self.draw(st.integers(0, 3))
        roles += ["out"] * self.draw(st.integers("in_out" not in roles, 2))
        held = self.draw(st.lists(st.sampled_from(OPS), min_size=1, max_size=5))
        name = f"{'triton_poi' if self.gpu else 'cpp'}_fused_{held[0]}_{len(self.roles)}"
        self.roles[name], self.held[name] = roles, held if self.gpu else []
        pointers = [f"{role}_ptr{k}" for k, role in enumerate(roles)]
        self.kernels.append((in_triton if self.gpu else in_cpp)(name, pointers, held))

    def argument(self, name: str) -> None:
        self.arrays[name] = shape = self.draw(shapes)
        self.call.append(f"assert_size_stride({name}, {stated(shape)})")

    def operand(self) -> tuple[str, int]:
        """An array to read or a part of one, and its bytes."""
        array = self.one_of(self.arrays)
        shape = self.arrays[array]
        if self.draw(st.booleans()):
            shape = self.other_sizes(array)
            array = f"reinterpret_tensor({array}, {stated(shape)}, {self.one_of([0, 256])})"
        return array, 4 * prod(shape)

    def new(self) -> tuple[str, int]:
        """An array for a result, new or in the memory of an old one, and its bytes."""
        name, old = f"buf{len(self.arrays)}", self.one_of(self.arrays)
        kind = self.draw(st.integers(0, 2))
        shape = self.arrays[name] = (self.arrays[old] if kind == 0 else self.draw(shapes)
                                     if kind == 1 else self.other_sizes(old))  # fmt: skip
        device = "cuda" if self.gpu else "cpu"
        self.call.append(f"{name} = " + [
            old, f"empty_strided_{device}({stated(shape)}, torch.float32)",
            f"reinterpret_tensor({old}, {stated(shape)}, 0)"][kind])  # fmt: skip
        return name, 4 * prod(shape)

    def other_sizes(self, array: str) -> tuple[int, ...]:
        shape = self.arrays[array]
        return self.one_of([shape[::-1], shape[1:], (*shape, 1)])

    def launch(self) -> None:
        name = self.one_of(self.roles)
        some = [self.operand() if role == "in" else self.new() for role in self.roles[name]]
        arrays, sizes = zip(*some, strict=True)
        sized = [*zip(self.roles[name], sizes, strict=True)]
        more = ", 32, stream=stream0" * self.gpu
        self.call.append(f"{name}{'.run' * self.gpu}({', '.join(arrays)}{more})")
        self.rows.append((name, self.held[name], sum(n for role, n in sized if role != "out"),
                          sum(n for role, n in sized if role != "in")))  # fmt: skip

    def library(self) -> None:
        """A call of a library."""
        name = self.one_of(LIBRARY)
        given, sizes = zip(*(self.operand() for _ in range(LIBRARY[name])), strict=True)
        (out, size), more = self.new(), ", alpha=1, beta=1" * (LIBRARY[name] == 3)
        self.call += ["# Topologically Sorted Source Nodes: [y], Original ATen: [aten.t, aten.mm]",
                      f"extern_kernels.{name}({', '.join(given)}{more}, out={out})"]  # fmt: skip
        self.rows.append((f"extern_kernels.{name}", [], sum(sizes), size))


def in_triton(name: str, pointers: list[str], held: list[str]) -> str:
    array = '"f32[8, 4][4, 1]cuda:0"'
    lines = [f"#   %{op}_{k} : Tensor {array}[num_users=1] = call_function[target=torch.ops.aten."
             f"{op}.Tensor](args = (%arg0_1, {k}), kwargs = {{}})"
             for k, op in enumerate(held)]  # fmt: skip
    lines = [
        "# Topologically Sorted Source Nodes: [x], Original ATen: [aten.mul, aten.view]",
        "# Graph fragment:", f"#   %arg0_1 : Tensor {array} = PlaceHolder[target=arg0_1]", *lines,
        f"{name} = async_compile.triton('{name}', '''", "@triton.jit",
        f"def {name}({', '.join(pointers)}, xnumel, XBLOCK : tl.constexpr):", "    xnumel = 32",
        f"    tmp0 = tl.load({pointers[0]} + (x0), None)", "''', device_str='cuda')",
        ""]  # fmt: skip
    return "\n".join(lines)


def in_cpp(name: str, pointers: list[str], held: list[str]) -> str:
    kinds = ["const float*" if pointer.startswith("in_ptr") else "float*" for pointer in pointers]
    given = ", ".join(map(" ".join, zip(kinds, pointers, strict=True)))
    return (f"{name} = async_compile.cpp_pybinding({kinds}, r'''\nvoid kernel({given})\n"
            f"for(x0=0; x0<32; x0+=16)\n    tmp0 = loadu({pointers[0]} + x0);\n''')\n")  # fmt: skip


def stated(shape: tuple[int, ...]) -> str:
    """Sizes and strides as Inductor writes them: (3, 4), (4, 1)."""
    strides = tuple(prod(shape[k + 1 :]) for k in range(len(shape)))
    return ", ".join(f"({x[0]}, )" if len(x) == 1 else str(x) for x in (shape, strides))


@st.composite
def drawn(draw: DrawFn, most: int = 4) -> Text:
    """A text with one to three kernels and up to `most` launches, for a GPU or a processor."""
    text = Text(draw, gpu=draw(st.booleans()))
    for _ in range(draw(st.integers(1, 3))):
        text.kernel()
    for k in range(draw(st.integers(1, 3))):
        text.argument(f"arg{k}_1")
    for _ in range(draw(st.integers(1, most))):
        text.one_of([text.launch, text.launch, text.library])()
    text.call.append(f"return (buf{len(text.arrays) - 1}, )")
    return text


@checks(NAME, given=drawn(4), examples=80, what="made-up texts",
        spec=[SAY, ROWS, IS, OFTEN, HELD, NONE, FOUR, ROLES, OUT, SIZES, PART, ALIAS])  # fmt: skip
def launches_of_texts(launched, text: Text):
    """Each launch, in order, with its operations and its bytes."""
    same_rows(launched(str(text)), text.rows, str(text))


def same_rows(got: Any, due: list[tuple], text: str) -> None:
    """Wrong unless the answer has these rows."""
    if not isinstance(got, list | tuple) or not all(isinstance(row, list | tuple) for row in got):
        raise Wrong("The answer must be a list with a tuple for each launch.", program=text,
                    got=returned(got), spec=ROWS)  # fmt: skip
    mine = [tuple([*x] if isinstance(x, list | tuple) else x for x in row) for row in got]
    names, right = ("\n".join(str(r[0]) for r in rows if r) or "nothing" for rows in (mine, due))
    if names != right:
        raise Wrong("The launches must be those of `call`, in its order.", program=text, got=names,
                    expected=right, spec=IS)  # fmt: skip
    for row, wanted in zip(mine, due, strict=True):
        if row != wanted:
            place = next((k for k in SAYS if row[k : k + 1] != wanted[k : k + 1]), 0)
            library = place > 1 and wanted[0].startswith("extern")
            raise Wrong(f"What the answer says of {wanted[0]} is not right.", program=text,
                        got=str(row), expected=str(wanted),
                        spec=OUT if library else SAYS[place] if place else ROWS)  # fmt: skip


# How many operations the launches hold, and what they read and write together.
KNOWN = [
    (BY_GPU["gelu"], [9], 134_217_728, 134_217_728, FOUR),
    (BY_INDUCTOR["gelu"], [0], 4_194_304, 4_194_304, NONE),
    (BY_GPU["block"], [7, 0, 0, 0, 8, 0, 0, 3, 0, 10, 0, 7, 0, 6], 6_699_008, 2_883_584, OUT),
    (BY_INDUCTOR["block"], [0] * 14, 6_699_008, 2_889_728, ALIAS),
]


@for_each(NAME, KNOWN, "{} texts that Inductor wrote", spec=[SAY])
def launches_of_the_block(launched, text, counts, read, written, spec):
    """GELU and the block, for a processor and for a GPU."""
    got = launched(text)
    try:
        mine = [len(row[1]) for row in got], *(int(sum(r[k] for r in got)) for k in (2, 3))
    except (TypeError, ValueError, IndexError):
        mine = returned(got)
    if mine != (counts, read, written):
        raise Wrong("The number of operations of each launch, and all bytes read and all bytes "
                    "written, must be these.", program=text, got=str(mine), spec=spec,
                    expected=str((counts, read, written)))  # fmt: skip
