"""Unit 16, XLA, IREE, TVM, Triton: its exercises.

The bodies are our answers and never ship. What the notebook shows stands in lessons.
Next room: lessons/u16/texts.py.
"""

from __future__ import annotations

from typing import Any

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u16.softmaxes", unit=16, points=3, kind="implement")
def softmaxes(program: dict[str, dict[str, Any]]) -> dict[str, int]:
    """Find every softmax of a StableHLO program.

    program  the row of each value, by name, as above
    returns  the name of the result of each softmax, and its axis: {"%8": 1}

    A softmax is a `divide` of e by s. The operand e is an `exponential` of any value. The operand s
    is the sum of this same value e along one axis, repeated along that axis again by one
    `broadcast_in_dim` or several. In a `broadcast_in_dim`, axis k of the operand becomes axis
    dims[k] of the result. The shape does not tell along which axis a sum is repeated, because two
    axes may have the same length. A sum along several axes does not make a softmax. All axes of the
    inputs have two elements or more.
    """
    found = {}
    for name, row in program.items():
        if row["op"] == "divide":
            e, s = row["operands"]
            axes = where = list(range(len(row["shape"])))
            while program[s]["op"] == "broadcast_in_dim":
                where = [where[axis] for axis in program[s]["dims"]]
                s = program[s]["operands"][0]
            total = program[s]
            summed = total["op"] == "reduce" and total["with"] == "add" and total["operands"] == [e]
            kept = [axis for axis in axes if axis not in total.get("dims", axes)]
            one = len(kept) == len(axes) - 1 and program[e]["op"] == "exponential"
            if summed and one and where == kept:
                found[name] = total["dims"][0]
    return found


@exercise("u16.dispatches", unit=16, points=3, kind="implement")
def dispatches(program: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Group the operations of a program as IREE forms dispatches.

    program  the row of each value, by name: its "op" ("input", "product", "sum" or "each") and its
             "operands"
    returns  lists of names, one for each dispatch

    Every operation but the inputs is in exactly one list. The rules are those of A to F above that
    hold. Only the last value of a dispatch is read by other dispatches; the values before it stay
    inside. The lists may come in any order, and so may the names in them. In these programs, an
    "each" has one reader at most; products and sums may have several.
    """
    group = {name: [name] for name, row in program.items() if row["op"] != "input"}

    def join(name: str, reader: str) -> None:
        both = group[name] + group[reader]
        group.update(dict.fromkeys(both, both))

    for reader in group:
        for name in program[reader]["operands"]:
            if program[name]["op"] == "each" and program[reader]["op"] != "product":
                join(name, reader)
    for name in group:
        readers = [group[other] for other in group if name in program[other]["operands"]]
        one = readers and all(other is readers[0] for other in readers)
        free = one and all(program[inside]["op"] == "each" for inside in readers[0])
        if program[name]["op"] != "each" and free:
            join(name, readers[0][0])
    return list({id(names): names for names in group.values()}.values())


@exercise("u16.attention", unit=16, points=2, kind="implement", further=True)
def attention() -> str:
    """Rewrite attention in Relax as one operation.

    returns  a text with two functions, `before(q, k, v)` and `after(q, k, v)`

    `before` is what the block above computes, operation by operation, from the results of the three
    `reshape` to the last `permute_dims`; q, k and v are these results, [1, 128, 4, 64]. It uses the
    attributes that stand there, except for the types (`out_dtype` and the constant's "float32"),
    which may be left out.

    `after` computes the same with one `R.nn.attention` and nothing else. This operation takes
    query, key and value as [batch, tokens, heads, size] and returns such an array; its products are
    multiplied by `scale`, which is 1 / sqrt(size) if it is not given.
    """
    return """
    def before(q, k, v):
        query = R.permute_dims(q, axes=[0, 2, 1, 3])
        swapped = R.permute_dims(k, axes=[0, 2, 1, 3])
        key = R.permute_dims(swapped, axes=[0, 1, 3, 2])
        products = R.matmul(query, key)
        scaled = R.divide(products, R.const(8.0, "float32"))
        weights = R.nn.softmax(scaled, axis=-1)
        value = R.permute_dims(v, axes=[0, 2, 1, 3])
        mixed = R.matmul(weights, value)
        return R.permute_dims(mixed, axes=[0, 2, 1, 3])

    def after(q, k, v):
        return R.nn.attention(q, k, v, scale=0.125)
    """


@exercise("u16.normalize", unit=16, points=3, kind="implement")
def normalize() -> str:
    """Write a Triton kernel that normalizes each row of x.

    returns  the text of a function `normalize(out, x, n, BLOCK: tl.constexpr)`

    x and out have rows of n numbers. Program r reads row r and writes (v - m) / sqrt(s + 0.00001)
    for each number v of it, where m is the mean of the row, and s is the mean of (v - m)². A block
    has BLOCK lanes, a power of two and at least n; nothing outside of the row is read or written.

    Each number of x is loaded once, and each of out is stored once. Results are right to 0.001,
    even where m is a thousand times as large as the root of s.
    """
    return """
    def normalize(out, x, n, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        cols = tl.arange(0, BLOCK)
        inside = cols < n
        v = tl.load(x + row * n + cols, mask=inside, other=0.0)
        m = tl.sum(v, 0) / n
        d = tl.where(inside, v - m, 0.0)
        s = tl.sum(d * d, 0) / n
        tl.store(out + row * n + cols, d / tl.sqrt(s + 0.00001), mask=inside)
    """


@exercise("u16.schedule", unit=16, points=3, kind="implement", further=True)
def schedule(loops: list[tuple[str, int, str]]) -> str:
    """Write a schedule of our compiler that makes the loops of TVM.

    loops    a row for each loop, the outermost first: its axis ("i", "j" or "k"), its extent, and
             its kind ("for", "parallel", "unroll" or "vectorized")
    returns  the schedule as text, a step in each line

    Our kernel is `product`, whose loops are i, j and k. After the schedule, its loops are those of
    the rows: the same order, extents and kinds. Of two loops of an axis, the one further out takes
    the larger steps. The extents of an axis, multiplied, are its length, and every extent is 2 or
    more. An axis may have one loop or several.
    """
    steps, names = [], [""] * len(loops)
    for axis in "ijk":
        places = [place for place, row in enumerate(loops) if row[0] == axis]
        base, inner = axis, [loops[place][1] for place in places]
        for place in places[:-1]:
            inner = inner[1:]
            steps.append(f"split({base}, {_product(inner)})")
            names[place], base = f"{base}o", f"{base}i"
        names[places[-1]] = base
    steps.append(f"reorder({', '.join(names)})")
    for name, (_, _, kind) in zip(names, loops, strict=True):
        if kind != "for":
            steps.append(f"{_STEPS[kind]}({name})")
    return "\n".join(steps)


_STEPS = {"parallel": "parallelize", "unroll": "unroll", "vectorized": "vectorize"}


def _product(numbers: list[int]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result


@exercise("u16.paths", unit=16, points=2, kind="evidence")
def paths() -> dict[str, dict[str, int]]:
    """Fill in the table of hardware and compilers from the facts above.

    returns  for each of DEVICES, the compilers that have a way to it, each with the number of the
             fact that says so: {"NVIDIA H200": {"XLA": 1, ...}, ...}

    A way means that this compiler makes code for this device. Only XLA, IREE, TVM and Triton count,
    not compilers of the maker. A device of the same maker, or one with a similar name, is another
    device. Something under development is not a way. A device to which none of the four has a way
    gets an empty dict.
    """
    card = {"XLA": 1, "IREE": 4, "TVM": 7, "Triton": 6}
    own = ("Intel Gaudi 3", "Apple Neural Engine", "Coral Edge TPU")
    small = {"Google TPU v5e": {"XLA": 2}, "Cortex-M, no system": {"IREE": 5, "TVM": 7}}
    return {"NVIDIA H200": card, "AMD MI300X": card, **small, **{name: {} for name in own}}


@exercise("u16.advice", unit=16, points=2, kind="explain")
def advice() -> Rubric:
    """Two teams ask which compiler to use. One serves a transformer with a new kind of attention on
    MI300X cards. The other puts a small convolutional network on a Cortex-M with 256 KB of memory.
    For each, choose from your table or from another fact; cite the facts by number, and name what
    your choice costs. Then say what the empty rows have in common, and what that means for somebody
    who designs a chip. Write five to eight sentences.
    """
    return Rubric(
        criteria="0.5 points: a choice for the MI300X with its fact: Triton (6) for a "
        "kernel that no compiler has a pattern for, or XLA (1), IREE (4) or TVM (7) for the whole "
        "model, and what it costs (the kernel is written and tiled by hand; or a new attention is "
        "compiled as separate products and a softmax until somebody adds a pattern). "
        "0.5 points: a choice for the Cortex-M with its fact: TFLM (12), TVM's C (7) or IREE's "
        "bare metal (5), and what it costs (an interpreter and kernels for TFLM; no runtime or "
        "tuning for microcontrollers in TVM any more, 8; your own linker script and toolchain in "
        "IREE). 0.5 points: the empty rows are reached through the maker's compiler (9, 10, 11), "
        "which takes whole models and decides itself; none of the four emits code for them, though "
        "Gaudi takes single kernels in TPC-C. "
        "0.5 points: the conclusion, such as: publish an instruction set or a plugin interface "
        "(PJRT, LLVM, a dialect), or write and keep a whole compiler; or an accelerator whose "
        "operations fit the common ones can be reached from existing compilers.",
        samples=(
            Sample(2, "On MI300X I take Triton (fact 6): the attention is new, so no compiler has "
                   "a pattern for it; as separate operations, its scores would go through memory. "
                   "The team has to write and tile the kernel and keep XLA or torch for the rest. "
                   "For the Cortex-M I take TFLM (12), whose core takes 16 KB and needs no "
                   "operating system; it costs an interpreter, and operations without a kernel for "
                   "this processor are slow. TVM's C (7) would do without an interpreter, but the "
                   "runtime for microcontrollers is gone (8). The empty rows are reached "
                   "through their maker's compiler (9, 10, 11), which takes whole models; only "
                   "Gaudi lets others add kernels. Who designs a chip must either write all of a "
                   "compiler, or offer what others can target, like a PJRT plugin or a backend of "
                   "LLVM."),
            Sample(1, "Triton for the MI300X because it supports AMD GPUs (6), though kernels are "
                   "written by hand. TFLM for the microcontroller because it is small (12). The "
                   "empty rows are special chips that do not have good software."),
            Sample(0, "XLA is best for both because it is the most mature compiler and supports "
                   "many kinds of hardware. The empty rows are old devices."),
        ),
    )  # fmt: skip
