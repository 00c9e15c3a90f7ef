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


@exercise("u15_lab_block.launched", unit=15, lab="block", points=3)
def launched(text: str) -> list[tuple[str, list[str]]]:
    """List what `call` launches, and which operations of the graph each launch holds.

    text     what Inductor wrote for a module, shortened: kernels, and then `call`
    returns  a pair for each launch, in the order of `call`: its name and its operations

    A launch is a call of a kernel that is defined above, or of a function of `extern_kernels`,
    such as "extern_kernels.addmm". A kernel in Triton is called by its method `run`, a kernel in
    C++ directly. A kernel may be launched several times, or not at all.

    The operations of a kernel are named in the comment above it, in the lines of `Graph fragment`
    that call a function: of `target=torch.ops.aten.mul.Tensor`, the name is "mul". They are listed
    in the order of the lines. Above a kernel in C++ there is no such comment, so its list is empty,
    and so is the list of a function of a library.
    """
    held: dict[str, list[str]] = {}
    found: list[str] = []
    launches = []
    for line in text.splitlines():
        if operation := re.search(r"^#.*call_function\[target=torch\.ops\.aten\.(\w+)", line):
            found.append(operation[1])
        elif made := re.match(r"(\w+) = async_compile\.", line):
            held[made[1]], found = found, []
        elif called := re.match(r"    (extern_kernels\.\w+|\w+?)(?:\.run)?\(", line):
            if called[1] in held or called[1].startswith("extern_kernels"):
                launches.append((called[1], held.get(called[1], [])))
    return launches


@exercise("u15_lab_block.loops", unit=15, lab="block", points=4)
def loops(code: str) -> list[dict[str, Any]]:
    """Say what each loop of a kernel in C++ does.

    code     the kernel, shortened
    returns  a dict for each loop, in the order of the text, with the keys below

    - "loop": its variable
    - "step": by how much the variable grows, from 0; more than 1 means that a vector holds so many numbers
    - "times": how often its body runs in one launch, all loops around it included
    - "shared": whether threads share its iterations. It is if `#pragma omp for` is the line above
      it. With `collapse(2)`, so is the loop in the line below it
    - "loads", "stores": the pointers from which its own body loads, and to which it stores, each
      once, in the order in which they come
    - "reduces": "sum" if its own body has a line such as `tmp_acc0_vec = tmp_acc0_vec + tmp7`,
      "maximum" if it has one such as `tmp_acc0_vec = maximum(tmp_acc0_vec, tmp3)`, otherwise "".
      A line with `vec_reduce_all` does not count

    A loop's own body is without the loops inside it.
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
    returns  the size of each block by its name, and as "each" the numbers of the tile for a thread

    The tile is as large as the product of its blocks, and divides evenly among the threads. The
    name of a block ends in BLOCK. Some sizes stand in the code, such as
    `R0_BLOCK: tl.constexpr = 128`. The others are parameters, whose sizes were chosen at the
    launch: `xoffset = tl.program_id(0) * XBLOCK` says that the programs of axis 0 divide the
    `xnumel` numbers of x among themselves, XBLOCK each. XBLOCK then is the least power of two with
    which they cover all of them.
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


@exercise("u15_lab_block.moved", unit=15, lab="block", points=4)
def moved(text: str) -> list[tuple[str, int, int]]:
    """Count the bytes that each launch reads and writes.

    text     as in `launched`
    returns  for each launch, in the order of `call`: its name, bytes read and bytes written

    Every number has 4 bytes, and arrays are read and written whole. The arrays of a launch are its
    arguments, in the order of the kernel's parameters: it reads those that it gets as in_ptr,
    writes those that it gets as out_ptr, and does both with an in_out_ptr. A function of a library
    writes the array that it gets as `out=` and reads the others.

    `assert_size_stride`, `empty_strided_cpu` (or `_cuda`) and `reinterpret_tensor` state the sizes
    of an array before its strides; `()` is a single number. A `reinterpret_tensor` among the
    arguments counts with its own sizes. After `buf1 = buf0`, both names mean the same array.
    """
    parameters = {name: re.findall(r"\b(in_out|in|out)_ptr", more) for name, more in
                  re.findall(r"(?m)^(\w+) = async_compile.*\n(?:@triton.*\n)?.*?(\(.*\))", text)}
    sizes: dict[str, int] = {}
    launches = []
    for line in text.partition("\ndef call(")[2].splitlines():
        if made := re.match(_MADE, line):
            sizes[made[1] or made[2]] = _bytes(made[3])
        elif made := re.fullmatch(r" +(\w+) = (\w+)", line):
            sizes[made[1]] = sizes[made[2]]
        elif called := re.match(r" +([\w.]+?)(?:\.run)?\((.*)\)$", line):
            arrays = _arrays(called[2], sizes)
            roles = parameters.get(called[1]) or ["in"] * (len(arrays) - 1) + ["out"]
            pairs = [*zip(roles, arrays, strict=True)]
            launches.append((called[1], sum(size for role, size in pairs if role != "out"),
                             sum(size for role, size in pairs if role != "in")))  # fmt: skip
    return launches


_SIZES = r"\(([\d, ]*)\)"
_MADE = (r" +(?:assert_size_stride\((\w+), |(\w+) = (?:empty_strided_\w+\(|reinterpret_tensor\(\w+, ))"
         + _SIZES)  # fmt: skip


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
    processor and on the GPU. Give launches and bytes before and after, and the ratio of your own
    measurement with what it allows you to say. Say which part of the block Inductor left as it was,
    and what that means for the ratio. Then explain from its tile why the softmax kernel of the
    block takes longer on the GPU than the two kernels that it replaces, although it moves fewer
    bytes, and why this is different for 64 sentences. Write six to ten sentences.
    """
    return Rubric(
        criteria="1 point for the counts: launches and bytes of both programs (GELU 9 to 1 and "
        "92.3 to 8.4 MB; the block 16 to 14 and 10.2 to 9.6 MB, or 6.4 % saved), with the cause: "
        "eight of the block's launches are products of a library, which Inductor leaves as they "
        "are, with 6.56 of the 10.2 MB. Half a point without the cause. 1 point for the times: the "
        "middle ratio of both programs from the student's own rounds (or the recorded ones, if "
        "there is no g++), and what it allows: that one version is faster only if it wins 12 of "
        "15 rounds or more, and no exact factor where rounds are far apart. The GPU's figures must "
        "fit: 64 sentences gain (695 to 566 µs a call) and one sentence does not (395 to 520), "
        "because its kernels take a small part of a call. Half a point for a ratio without that. "
        "1 point for the tile: 32 rows a program make 16 programs for 512 rows, so at most 16 of "
        "132 multiprocessors work, while eager's two kernels had 64 programs each; with 64 "
        "sentences there are 32,768 rows, enough for all of them in any case, and then the fewer "
        "bytes count. Half a point without 64 sentences. An answer that calls this a likely cause, "
        "because nobody measured another XBLOCK, is right.",
        samples=(
            Sample(3, "GELU went from 9 launches to 1 and from 92 to 8.4 MB, and in my rounds it was "
                   "4.4 times as fast in the middle one, faster in 15 of 15; the rounds lie between "
                   "2 and 9, so I only say that it is several times as fast. The block went from 16 "
                   "launches to 14 and from 10.2 to 9.6 MB. Eight of its launches are matrix "
                   "products, which stay calls of a library and move 6.6 of the 10.2 MB, so the "
                   "ratio cannot be far from 1. It won 9 of my 15 rounds, which is no evidence. On "
                   "the GPU a call even got slower for one sentence, 395 to 520 µs, as the kernels "
                   "are a small part of it, and faster for 64, 695 to 566. The softmax kernel has "
                   "tiles of 32 × 128, so 512 rows make only 16 programs, and 116 of the 132 "
                   "multiprocessors have nothing to do, where eager mode's kernels had 64 programs "
                   "each. With 64 sentences there are 32,768 rows, which is work for all, and "
                   "moving fewer bytes wins: 6.9 instead of 15 µs."),
            Sample(2, "GELU has 1 launch instead of 9 and moves 9 % of the bytes, the block 14 instead "
                   "of 16 and 94 %, because the eight products are not Inductor's. In my "
                   "measurement GELU is 4.4 times and the block 1.1 times as fast. The softmax has "
                   "only 16 programs because a program takes 32 rows, so most of the GPU waits; "
                   "with 64 sentences there are 64 times as many."),
            Sample(0, "Compiling makes everything faster because the kernels are fused and Python is "
                   "skipped. The softmax is slower because Triton is not as good as CUDA."),
        ),
    )  # fmt: skip
