"""Visible checks of the lab beside unit 15. Here: texts as Inductor writes them, made up, and what
has to be read out of them.

    drawn(4)                             a strategy: `Text`s with up to four launches
    same_rows(got, due, text, spec=)     Wrong at the first row that differs

Next room: launches.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong
from autograder.check.shown import returned

OPS = ("mul", "add", "sub", "tanh", "exp", "_softmax", "amax", "reshape", "native_layer_norm", "sum")
LIBRARY = {"mm": 2, "bmm": 2, "addmm": 3, "baddbmm": 3}
SIZES = (1, 2, 3, 4, 5, 16, 64, 128)


@dataclass
class Text:
    """A text under construction. `held` and `moved` are what its launches must be read as.

    arrays  the bytes of each array that exists, by name
    roles   for each kernel, what its pointers are for: "in", "out" or "in_out"
    """

    gpu: bool
    kernels: list[str] = field(default_factory=list)
    call: list[str] = field(default_factory=list)
    arrays: dict[str, tuple[int, ...]] = field(default_factory=dict)
    roles: dict[str, list[str]] = field(default_factory=dict)
    operations: dict[str, list[str]] = field(default_factory=dict)
    held: list[tuple[str, list[str]]] = field(default_factory=list)
    moved: list[tuple[str, int, int]] = field(default_factory=list)

    @property
    def device(self) -> str:
        return "cuda" if self.gpu else "cpu"

    def __str__(self) -> str:
        names = ", ".join(name for name in self.arrays if name.startswith("arg"))
        head = ["def call(args):", f"    {names}, = args"]
        return "\n".join(self.kernels) + "\n".join([*head, *self.call]) + "\n"

    def new(self, name: str, shape: tuple[int, ...]) -> str:
        """An array, made in a line of its own."""
        self.arrays[name] = shape
        self.call.append(f"    {name} = empty_strided_{self.device}({tuple_of(shape)}, "
                         f"{strides(shape)}, torch.float32)")  # fmt: skip
        return name

    def defines(self, name: str, roles: list[str], operations: list[str]) -> None:
        self.roles[name] = roles
        self.operations[name] = operations if self.gpu else []
        pointers = [f"{role}_ptr{k}" for k, role in enumerate(roles)]
        self.kernels.append(in_triton(name, pointers, operations) if self.gpu
                            else in_cpp(name, pointers))  # fmt: skip

    def launches(self, name: str, arrays: list[str]) -> None:
        """A kernel of its own, with arrays that exist."""
        more = f", {prod(self.arrays[arrays[0]])}, stream=stream0" if self.gpu else ""
        self.call.append(f"    {name}{'.run' * self.gpu}({', '.join(arrays)}{more})")
        pairs = [*zip(self.roles[name], (4 * prod(self.arrays[a]) for a in arrays), strict=True)]
        self.held.append((name, self.operations[name]))
        self.moved.append((name, sum(size for role, size in pairs if role != "out"),
                           sum(size for role, size in pairs if role != "in")))  # fmt: skip


def in_triton(name: str, pointers: list[str], operations: list[str]) -> str:
    """A kernel with the comment above it. Its second input is read as it was made: no operation."""
    array = '"f32[8, 4][4, 1]cuda:0"'
    lines = [f'#   %arg0_1 : Tensor {array} = PlaceHolder[target=arg0_1]']
    lines += [f"#   %{op}_{k} : Tensor {array}[num_users=1] = call_function[target=torch.ops.aten."
              f"{op}.Tensor](args = (%arg0_1, {k}), kwargs = {{}})"
              for k, op in enumerate(operations)]  # fmt: skip
    whole = ", ".join(f"aten.{op}" for op in dict.fromkeys(operations))
    above = [f"# Topologically Sorted Source Nodes: [x], Original ATen: [{whole}, aten.view]",
             "# Graph fragment:", *lines]  # fmt: skip
    body = [f"{name} = async_compile.triton('{name}', '''", "@triton.jit",
            f"def {name}({', '.join(pointers)}, xnumel, XBLOCK : tl.constexpr):",
            "    xnumel = 32", "    xoffset = tl.program_id(0) * XBLOCK",
            f"    tmp0 = tl.load({pointers[0]} + (x0), None)", "''', device_str='cuda')"]  # fmt: skip
    return "\n".join([*above, *body, "", ""])


def in_cpp(name: str, pointers: list[str]) -> str:
    kinds = ["const float*" if pointer.startswith("in_ptr") else "float*" for pointer in pointers]
    given = ", ".join(f"{kind} {pointer}" for kind, pointer in zip(kinds, pointers, strict=True))
    return (f"{name} = async_compile.cpp_pybinding({kinds}, r'''\nvoid kernel({given})\n"
            f"for(x0=0; x0<32; x0+=16)\n    tmp0 = loadu({pointers[0]} + x0);\n''')\n\n")  # fmt: skip


def tuple_of(shape: tuple[int, ...]) -> str:
    """As Inductor writes it: (), (3, ), (3, 4)."""
    return f"({shape[0]}, )" if len(shape) == 1 else str(shape)


def strides(shape: tuple[int, ...]) -> str:
    return tuple_of(tuple(prod(shape[k + 1 :]) for k in range(len(shape))))


shapes = st.lists(st.sampled_from(SIZES), min_size=1, max_size=4).map(tuple)


@st.composite
def drawn(draw: DrawFn, most: int = 4) -> Text:
    """A text with one to three kernels and up to `most` launches, for a GPU or a processor."""
    text = Text(gpu=draw(st.booleans()))
    for k in range(draw(st.integers(1, 3))):
        roles = ["in_out"] * draw(st.integers(0, 1)) + ["in"] * draw(st.integers(0, 3))
        roles += ["out"] * draw(st.integers(0 if roles[:1] == ["in_out"] else 1, 2))
        operations = draw(st.lists(st.sampled_from(OPS), min_size=1, max_size=5))
        text.defines(f"{'triton_poi' if text.gpu else 'cpp'}_fused_{operations[0]}_{k}", roles,
                     operations)  # fmt: skip
    for k in range(draw(st.integers(1, 3))):
        shape = draw(shapes)
        text.arrays[f"arg{k}_1"] = shape
        text.call.append(f"    assert_size_stride(arg{k}_1, {tuple_of(shape)}, {strides(shape)}"
                         f"{'' if text.gpu else ', ' + repr('input')})")  # fmt: skip
    number = 0
    for _ in range(draw(st.integers(1, most))):
        number = _launch(draw, text, number)
    text.call.append(f"    return (buf{number - 1}, )")
    return text


def _launch(draw: DrawFn, text: Text, number: int) -> int:
    """One more launch, and the arrays that are made for it; the number of the next array."""
    def there() -> str:
        return draw(st.sampled_from([*text.arrays]))

    if draw(st.integers(0, 2)) == 0:
        return _library(draw, text, number)
    name = draw(st.sampled_from([*text.roles]))
    arrays = []
    for role in text.roles[name]:
        if role == "in":
            arrays.append(there())
            continue
        old, kind = there(), draw(st.integers(0, 2))
        arrays.append(new := f"buf{number}")
        number += 1
        if kind == 0 and old.startswith("buf"):  # the memory of an old one, under another name
            text.call.append(f"    {new} = {old}")
            text.arrays[new] = text.arrays[old]
        elif kind == 1:  # ... or with other sizes, perhaps only a part of it
            shape = draw(st.sampled_from([text.arrays[old][::-1], text.arrays[old][1:]]))
            text.call.append(f"    {new} = reinterpret_tensor({old}, {tuple_of(shape)}, "
                             f"{strides(shape)}, 0)")  # fmt: skip
            text.arrays[new] = shape
        else:
            text.new(new, draw(shapes))
    text.launches(name, arrays)
    return number


def _library(draw: DrawFn, text: Text, number: int) -> int:
    """A call of a library, some of whose operands are parts of arrays."""
    name = draw(st.sampled_from([*LIBRARY]))
    given, read = [], 0
    for _ in range(LIBRARY[name]):
        array = draw(st.sampled_from([*text.arrays]))
        shape = text.arrays[array]
        if draw(st.booleans()):
            shape = draw(st.sampled_from([shape, shape[::-1], shape[1:], (*shape, 1)]))
            array = (f"reinterpret_tensor({array}, {tuple_of(shape)}, {strides(shape)}, "
                     f"{draw(st.sampled_from([0, 256]))})")  # fmt: skip
        given.append(array)
        read += 4 * prod(shape)
    new = text.new(f"buf{number}", draw(shapes))
    extra = ", alpha=1, beta=1" * (LIBRARY[name] == 3)
    text.call.append("    # Topologically Sorted Source Nodes: [y], Original ATen: [aten.t, aten.mm]")
    text.call.append(f"    extern_kernels.{name}({', '.join(given)}{extra}, out={new})")
    text.held.append((f"extern_kernels.{name}", []))
    text.moved.append((f"extern_kernels.{name}", read, 4 * prod(text.arrays[new])))
    return number + 1


def same_rows(got: Any, due: list[tuple], text: str, spec: str, rows: dict[int, str]) -> None:
    """Wrong unless both are the same rows: sequences of the same values. `rows` quotes, for each
    place in a row, the sentence about it."""
    if not isinstance(got, list | tuple) or not all(isinstance(r, list | tuple) for r in got):
        raise Wrong("The answer must be a list with a tuple for each launch.", program=text,
                    got=returned(got), spec=spec)  # fmt: skip
    mine = [tuple([*part] if isinstance(part, list | tuple) else part for part in row) for row in got]
    if [row[:1] for row in mine] != [row[:1] for row in due]:
        raise Wrong("The launches must be those of `call`, in its order.", program=text,
                    got=in_lines(row[0] if row else row for row in mine),
                    expected=in_lines(row[0] for row in due), spec=rows[0])  # fmt: skip
    for row, right in zip(mine, due, strict=True):
        wrong = [k for k, part in enumerate(right) if row[k : k + 1] != (part,)]
        if wrong or len(row) != len(right):
            raise Wrong(f"What is said of {right[0]} is not right.", program=text, got=str(row),
                        expected=str(right), spec=rows[wrong[0]] if wrong else spec)  # fmt: skip


def in_lines(words: Any) -> str:
    return "\n".join(map(str, words)) or "no launch"
