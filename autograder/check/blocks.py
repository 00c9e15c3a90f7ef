"""Random programs of blocks and rows, as `course_lib/llvm/inspect/rows.py` has them.

    @checks("llvm.constants", given=programs(), examples=60, what="random programs")

Each is valid LLVM IR once its rows are written as lines: a block may lead to any others, and a phi
says what a variable is where ways meet. Next room: properties.py, the assertions.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from course_lib.llvm.inspect.rows import Blocks, Row

VARIABLES, ARGUMENT, NUMBERS = "xyz", "n", (0, 1, 1, 2, -1)
CLOSED, OPEN = (
    ("add i64", "mul i64", "sub i64"),
    ("add i64", "mul i64", "sub i64", "sdiv i64", "call"),
)


@st.composite
def programs(draw: DrawFn, most: int = 4, closed: bool = False) -> Blocks:
    """Three variables, and blocks that change them and go anywhere but to the entry. A closed
    program has no loop, no argument, no division and no call."""
    count = draw(st.integers(1, most))
    goes = [_ways(draw, k + 1 if closed else 1, count) for k in range(count)]
    before = [[a for a in range(count) for b in goes[a] if b == k] for k in range(count)]
    leaves: st.SearchStrategy[Any] = st.sampled_from(
        [*NUMBERS, *VARIABLES, *VARIABLES, *([] if closed else ARGUMENT)]
    )
    ops = st.sampled_from(CLOSED if closed else OPEN)
    blocks: list[list[Row]] = []
    ends: list[dict[str, Any]] = []
    for k in range(count):
        now = {v: f"{v}{k}" if before[k] else draw(st.sampled_from(NUMBERS)) for v in VARIABLES}
        rows: list[Row] = []
        for turn in range(draw(st.integers(0, 2))):
            variable = draw(st.sampled_from(VARIABLES))
            operands = [now.get(leaf, leaf) for leaf in (draw(leaves), draw(leaves))]
            rows.append((f"{variable}{k}{turn}", draw(ops), *operands))
            now[variable] = f"{variable}{k}{turn}"
        if len(goes[k]) == 2:
            operands = [now.get(leaf, leaf) for leaf in (draw(leaves), draw(leaves))]
            rows.append(
                (f"c{k}", f"icmp {draw(st.sampled_from(['eq', 'ne', 'slt']))} i64", *operands)
            )
        condition, ways = [f"c{k}"] * (len(goes[k]) == 2), [f"b{b}" for b in goes[k]]
        rows.append((None, "br", *condition, *ways) if ways else (None, "ret", now["x"]))
        blocks.append(rows)
        ends.append(now)
    for k, rows in enumerate(blocks):
        rows[:0] = [(f"{v}{k}", "phi", *((f"b{a}", ends[a][v]) for a in before[k]))
                    for v in VARIABLES if before[k]]  # fmt: skip
    return {f"b{k}": blocks[k] for k in (0, *draw(st.permutations(range(1, count))))}


def _ways(draw: DrawFn, lowest: int, count: int) -> list[int]:
    """None, one or two blocks to go to, if there are any from `lowest` on."""
    if lowest >= count:
        return []
    return [
        draw(st.integers(lowest, count - 1)) for _ in range(draw(st.sampled_from([2, 2, 2, 1, 0])))
    ]
