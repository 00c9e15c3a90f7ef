"""Lab beside unit 15, what Inductor wrote for a block: its exercises.

The bodies are our answers and never ship. What the notebook shows stands in lessons. Next room:
checks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import Any

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u15_lab_block.loops", unit=15, lab="block", points=4)
def loops(code: str) -> list[dict[str, Any]]:
    """Say what each loop of a kernel in C++ does.

    code     the kernel, shortened
    returns  a dict for each loop, in the order of the text, with the keys below

    - "loop": its variable
    - "step": by how much the variable grows, from 0; more than 1 means that a vector holds that
      many numbers
    - "times": how often its body runs in one launch, all loops around it included
    - "shared": whether threads share its iterations. They do if the line above it is
      `#pragma omp for`. With `collapse(2)`, the loop in the line below it is shared too
    - "loads", "stores": the pointers, as they are written, from which its own body loads (with
      `loadu` or as `p[x0]`), and those to which it stores, each once, in the order of the text
    - "reduces": "sum" if its own body has a line such as `tmp_acc0_vec = tmp_acc0_vec + tmp7`,
      "maximum" if it has one such as `tmp_acc0_vec = maximum(tmp_acc0_vec, tmp3)`, otherwise "".
      A line with `vec_reduce_all` does not count

    A loop's own body does not include the loops inside it.
    """
    found: list[dict[str, Any]] = []
    around: list[tuple[int, dict[str, Any]]] = []  # how far to the right, and the loop
    shared = 0
    for line in code.splitlines():
        depth, words = len(line) - len(line.lstrip()), line.strip()
        if words.startswith("#pragma omp for"):
            shared = 2 if "collapse(2)" in words else 1
        while around and depth <= around[-1][0]:
            around.pop()
        if head := re.match(r"for\((\w+)=0; \w+<(\d+); \w+\+=(\d+)\)", words):
            end, step = int(head[2]), int(head[3])
            times = -(-end // step) * (around[-1][1]["times"] if around else 1)
            found.append({"loop": head[1], "step": step, "times": times, "shared": shared > 0,
                          "loads": [], "stores": [], "reduces": ""})  # fmt: skip
            around.append((depth, found[-1]))
            shared -= 1
        elif around:
            _read(words, around[-1][1])
    return found


def _read(words: str, loop: dict[str, Any]) -> None:
    """A line of a loop's own body."""
    for key, pattern in (("loads", r"= loadu\((\w+)|= (\w+)\["),
                         ("stores", r"\.store\((\w+)|^(\w+)\[")):  # fmt: skip
        if pointer := re.search(pattern, words):
            loop[key] = list(dict.fromkeys([*loop[key], pointer[1] or pointer[2]]))
    if (to := re.match(r"(\w*acc\w*) = ", words)) and "vec_reduce_all" not in words:
        for kind, start in (("sum", f"{to[1]} + "), ("maximum", f"maximum({to[1]}, ")):
            if words.startswith(f"{to[1]} = {start}"):
                loop["reduces"] = kind


@exercise("u15_lab_block.tile", unit=15, lab="block", points=2)
def tile(code: str, grid: Sequence[int], threads: int) -> dict[str, int]:
    """Say which tile of numbers one program of a Triton kernel holds.

    code     the kernel
    grid     how many programs were launched along the axes 0, 1 and 2
    threads  how many threads each program had
    returns  the size of each block by its name, and as "each" how many numbers of the tile a thread
             gets

    The tile is as large as the product of its blocks, and divides evenly among the threads. The
    name of a block ends in BLOCK. Some sizes stand in the code, such as
    `R0_BLOCK: tl.constexpr = 128`. The others are parameters, whose sizes were chosen at the
    launch. The line `xoffset = tl.program_id(0) * XBLOCK` says that the programs of axis 0 divide
    the `xnumel` numbers of x among themselves, XBLOCK each. XBLOCK then is the smallest power of
    two with which the programs cover all of them.
    """
    blocks = {name: int(size) for name, size in
              re.findall(r"(\w+BLOCK): tl\.constexpr = (\d+)", code)}  # fmt: skip
    for axis, name in re.findall(r"tl\.program_id\((\d)\) \* (\w+BLOCK)", code):
        (count,) = re.findall(rf"^ *{name[0].lower()}numel = (\d+)", code, re.M)
        size = 1
        while size * grid[int(axis)] < int(count):
            size *= 2
        blocks[name] = size
    return {**blocks, "each": prod(blocks.values()) // threads}


@exercise("u15_lab_block.launched", unit=15, lab="block", points=5)
def launched(text: str) -> list[tuple[str, list[str], int, int]]:
    """Annotate each launch of `call`: what it holds, and what it moves.

    text     what Inductor wrote for a module, shortened
    returns  a tuple for each launch, in the order of `call`: its name, its operations, and how many
             bytes it reads and writes

    A launch is a call of a kernel that is defined above, in Triton by its method `run`, or of a
    function of `extern_kernels`, such as "extern_kernels.addmm". A kernel may be launched several
    times, or not at all. Its operations are named in the comment above it, in the lines with
    `call_function`, in order: of `target=torch.ops.aten.mul.Tensor`, the name is "mul". The list is
    empty for a kernel in C++ and for a function of a library.

    Every number has 4 bytes, and arrays are read and written whole. A kernel's arguments are arrays
    in the order of its parameters: it reads what it gets as in_ptr, writes what it gets as out_ptr,
    and does both with an in_out_ptr. A function of a library writes `out=` and reads its other
    arrays.

    The sizes of an array stand before its strides in `assert_size_stride`, in `empty_strided_cpu`
    (or `_cuda`) and in `reinterpret_tensor`, which may itself be an argument; `()` is one number.
    After `buf1 = buf0`, both names mean the same array.
    """
    kernels, _, call = text.partition("\ndef call(")
    held: dict[str, list[str]] = {}
    found: list[str] = []
    for line in kernels.splitlines():
        if operation := re.match(r"#.*call_function\[target=torch\.ops\.aten\.(\w+)", line):
            found.append(operation[1])
        elif made := re.match(r"(\w+) = async_compile", line):
            held[made[1]], found = found, []
    heads = re.findall(r"(?m)^(?:def \w+|void kernel)(.*)", kernels)
    roles = {name: re.findall(r"(in_out|in|out)_ptr", head)
             for name, head in zip(held, heads, strict=True)}  # fmt: skip
    sizes: dict[str, int] = {}
    rows = []
    for line in call.splitlines():
        if stated := re.match(_STATED, line):
            sizes[stated[1] or stated[2]] = _bytes(stated[3])
        elif same := re.fullmatch(r" +(\w+) = (\w+)", line):
            sizes[same[1]] = sizes[same[2]]
        elif called := re.match(r" +([\w.]+?)(?:\.run)?\((.*)\)$", line):
            arrays = _arrays(called[2], sizes)
            does = roles.get(called[1]) or ["in"] * (len(arrays) - 1) + ["out"]
            pairs = [*zip(does, arrays, strict=True)]
            rows.append((called[1], held.get(called[1], []),
                         sum(size for role, size in pairs if role != "out"),
                         sum(size for role, size in pairs if role != "in")))  # fmt: skip
    return rows


_SIZES = r"\(([\d, ]*)\)"
_STATED = (r" +(?:assert_size_stride\((\w+), |"
           r"(\w+) = (?:empty_strided_\w+\(|reinterpret_tensor\(\w+, ))" + _SIZES)  # fmt: skip


def _bytes(sizes: str) -> int:
    return 4 * prod(int(n) for n in re.findall(r"\d+", sizes))


def _arrays(arguments: str, sizes: dict[str, int]) -> list[int]:
    """The bytes of each array among the arguments of a launch."""
    pattern = rf"reinterpret_tensor\(\w+, {_SIZES}, {_SIZES}, \d+\)|\b((?:arg|buf)\d\w*)"
    return [sizes[name] if name else _bytes(own)
            for own, _, name in re.findall(pattern, arguments)]  # fmt: skip


@exercise("u15_lab_block.bought", unit=15, lab="block", points=3, kind="explain")
def bought() -> Rubric:
    """What has compiling bought, and what has it not? Compare GELU with the block, on your
    processor and on the GPU, there for one sentence and for 64. Give launches and bytes before and
    after, and the ratio that you measured, with what it allows you to say. Say which part of the
    block Inductor left as it was, and what that means for the ratio. Then explain from its tile why
    the softmax kernel of the block takes longer on the GPU than the two kernels that it replaces,
    although it moves fewer bytes, and why this is different for 64 sentences. Write six to ten
    sentences.
    """
    return Rubric(
        criteria="1 point for the counts: GELU 9 launches to 1 and 92.3 to 8.4 MB, the block 16 to "
        "14 and 10.2 to 9.6 MB, with the cause: eight of the block's launches are products of a "
        "library, with 6.6 MB, which Inductor leaves as they are. 1 point for the times: both "
        "ratios from the student's own rounds (the recorded ones without g++) and what they "
        "allow: one version is faster only if it wins 12 of 15 rounds, and there is no exact "
        "factor where rounds are far apart. On the GPU, 64 sentences gain (695 to 566 µs a "
        "call) and one does not (395 to 520). 1 point for the tile: 32 rows a program make 16 "
        "programs of 512 rows, for 132 multiprocessors, where eager's two kernels had 64 "
        "programs each; 64 sentences have 32,768 rows, enough for all, and then fewer bytes "
        "count. Calling this a likely cause is right: Inductor measured 1, 8 and 32 rows and kept "
        "32; their times were not recorded. Take off half a point for each missing part.",
        samples=(
            Sample(3, "GELU went from 9 launches to 1 and from 92 to 8.4 MB. In my rounds it was "
                   "4.4 times as fast in the middle one, and faster in 15 of 15; they lie "
                   "between 2 and 9, so I only say several times. The block went from 16 "
                   "launches to 14 and from 10.2 to 9.6 MB: eight are products of a library, "
                   "which Inductor did not touch. It won 9 of my 15 rounds, which is no "
                   "evidence. On the GPU, a call got slower for one sentence, 395 to 520 µs, and "
                   "faster for 64. The softmax kernel has tiles of 32 × 128, so 512 rows make 16 "
                   "programs, and 116 of 132 multiprocessors have nothing to do; eager mode's "
                   "kernels had 64 programs each. With 64 sentences there is work for all, and "
                   "moving fewer bytes wins: 6.9 instead of 15 µs."),
            Sample(2, "GELU has 1 launch instead of 9 and moves 9 % of the bytes, the block 14 "
                   "instead of 16 and 94 %, as the products are not Inductor's. In my rounds "
                   "GELU is 4.4 times and the block 1.1 times as fast. The softmax has only 16 "
                   "programs of 32 rows, so most of the GPU waits; with 64 sentences there are "
                   "more."),
            Sample(0, "Compiling makes everything faster because kernels are fused and Python is "
                   "skipped. The softmax is slower because Triton is not as good as CUDA."),
        ),
    )  # fmt: skip
