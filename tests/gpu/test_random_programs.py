"""Random programs give the same on the SIMT machine as on a plain interpreter: bit for bit.

All warps at once, one warp at a time in any order, with somebody looking on, and with neighbouring
loads merged. Whoever wants to see a program again: `print(make(seed).text)`.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.gpu.count.counters import Counters
from course_lib.gpu.count.races import Races
from course_lib.gpu.ptx.merging import merge_shared_loads
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.kernel import Kernel
from course_lib.gpu.simt.machine import launch

from . import plain
from .programs import INTEGERS, REALS, SLOT, Program, make

NUMPY = {"b32": "u4", "b64": "u8", "f32": "f4", "f64": "f8", "f16": "f2", "u8": "u1"}
MANY = settings(max_examples=7 * settings().max_examples)  # of the profile that is loaded


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays have the same bits; floats that are both NaN count as the same."""
    raw = f"u{a.dtype.itemsize}"
    alike = np.ascontiguousarray(a).view(raw) == np.ascontiguousarray(b).view(raw)
    return alike | ((a != a) & (b != b))


def differences(program: Program, found: list, wanted: list) -> list[str]:
    """What two runs leave differently, in words."""
    said = []
    into = [np.frombuffer(x[1], np.uint8).reshape(-1, SLOT) for x in (found, wanted)]
    for at, type in program.fields:
        size = np.dtype(NUMPY[type]).itemsize
        a, b = (np.ascontiguousarray(x[:, at : at + size]).view(NUMPY[type]) for x in into)
        if not (good := same(a, b)).all():
            k = int(np.argmin(good))
            said.append(f"thread {k}, byte {at} ({type}): {a[k, 0]!r}, wanted {b[k, 0]!r}")
    whole, real = INTEGERS // 4, (INTEGERS + REALS) // 4
    scratch = [np.frombuffer(x[2], "u4").reshape(-1, real) for x in (found, wanted)]
    if not (scratch[0][:, :whole] == scratch[1][:, :whole]).all():
        said.append("scratch memory, whole numbers")
    if not same(*(np.ascontiguousarray(s[:, whole:real]).view("f4") for s in scratch)).all():
        said.append("scratch memory, floats")
    if bytes(found[3]) != bytes(wanted[3]):
        said.append("atomics")
    return said


def check(seed: int) -> None:
    program = make(seed)
    entry = read(program.text).entry()
    wanted = plain.launch(entry, program.grid, program.block, program.arguments)
    races = Races()
    merged = merge_shared_loads(entry, Kernel(entry).places)
    ways = {
        "all warps": (entry, {}),
        "in random order": (entry, {"order": np.random.default_rng(seed)}),
        "watched": (entry, {"watches": [Counters(), races]}),
        "with merged loads": (merged, {}),
    }
    for name, (text, way) in ways.items():
        if name == "with merged loads" and text.instructions == entry.instructions:
            continue
        run = launch(text, program.grid, program.block, program.arguments, **way)
        found = [None if a is None else a.tobytes() for a in run.arrays]
        said = differences(program, found, wanted)
        assert not said, f"program {seed}, {name}: {said}\n{program.text}"
    assert races.found == [], f"program {seed}: {races.found[0]}\n{program.text}"


@MANY
@given(st.integers(0, (1 << 32) - 1))
def test_random_programs(seed):
    check(seed)
