"""Whatever a text is, reading it ends in a module or in a PtxError (a ValueError).

Random bytes, texts of compilers that are cut and changed, braces within braces, huge numbers.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import course_lib.gpu
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.kernel import Kernel

RECORDED = Path(course_lib.gpu.__file__).parent / "recorded"
TEXTS = [(RECORDED / f"{name}.ptx").read_text()
         for name in ("reduce_shuffle", "matmul_tile16", "diverge_lane")]  # fmt: skip
PIECES = ["{", "}", "[", "]", ";", ",", "|", "@", "!", "-", "<", ">", "/*", '"', ".reg", ".b32",
          ".shared", ".align", ".entry", ".param", "%r1", "%p1", "0x", "99999999999999999999999",
          "0f00", "1e999", "-1", "bra", "bar.sync", "ld.global.v4.f32", "mov", "=", "\0", "é",
          ".const .u32 c = 99999999999999999999;", "cvt.f32.f32", "%r999999999999999", "٣",
          ".reqntid 0x10, -3", "setp.eq.u32 %p1|%p1", "wmma.mma.sync.aligned.row.row.m16n16k16",
          ]  # fmt: skip
HUGE = ["9" * 20, "9" * 5000, "0x" + "F" * 5000, "1e9999", "1." + "0" * 99]


def attempt(text: str) -> None:
    """A module whose entries can be made ready, or a ValueError."""
    try:
        for entry in read(text).entries.values():
            Kernel(entry)
    except ValueError as error:
        assert str(error)


@given(st.binary(max_size=200))
def test_random_bytes(data):
    attempt(data.decode("latin-1"))


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_words_in_any_order(pieces):
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    attempt(" ".join(pieces))
    attempt(f"{head}.visible .entry k() {{ .reg .b32 %r<4>; .reg .pred %p<2>; {' '.join(pieces)}")
    attempt(f"{head}.entry k() {{ .reg .b32 %r<4>; .reg .pred %p<2>; {' '.join(pieces)}; ret; }}")


@given(st.sampled_from(TEXTS), st.data())
def test_texts_that_are_cut_and_changed(text, data):
    at = data.draw(st.integers(0, len(text)))
    attempt(text[:at])
    size = data.draw(st.integers(0, 20))
    attempt(text[:at] + data.draw(st.sampled_from(PIECES)) + text[at + size :])
    words = text.split(" ")
    first, second = (data.draw(st.integers(0, len(words) - 1)) for _ in range(2))
    words[first], words[second] = words[second], words[first]
    attempt(" ".join(words))


@pytest.mark.parametrize("count", [10, 101, 100_000])
def test_braces_within_braces(count):
    head = ".version 8.0\n.entry k() { .reg .b32 %r<9>; "
    for text in (f"{head}{'{' * count}{'}' * count} ret; }}", f"{head}{'{' * count}",
                 f"{head}mov.b64 {'{' * count}%r1{'}' * count}, %r1; ret; }}",
                 f"{head}ld.global.u32 %r1, {'[' * count}%r1{']' * count}; ret; }}"):  # fmt: skip
        attempt(text)


@pytest.mark.parametrize("number", HUGE)
def test_huge_numbers(number):
    head = ".version 8.0\n.entry k() { .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<3>; "
    for line in (f"mov.u32 %r1, {number};", f"mov.f32 %f1, {number};", f".shared .b8 t[{number}];",
                 f".local .align {number} .b8 t[4];", f".reg .b32 %x<{number}>;",
                 f"ld.global.u32 %r1, [%d1+{number}];", f"ld.global.u32 %r1, [{number}];",
                 f"mov.u32 %r1, %r{number};", f"bar.sync {number};",
                 f"lop3.b32 %r1, %r1, %r2, %r3, {number};"):  # fmt: skip
        attempt(f"{head}{line} ret; }}")
    attempt(f".version 8.0\n.const .u32 c = {number};\n.entry k() {{ ret; }}")
    attempt(f".version 8.0\n.const .b8 c[{number}];\n.entry k() {{ ret; }}")
    attempt(f".version 8.0\n.entry k(.param .b8 x[{number}]) {{ ret; }}")
