"""PTX is read as it stands, and what is not PTX is refused with its line."""

import pytest

from course_lib.gpu.ptx.flow import flow
from course_lib.gpu.ptx.liveness import outgoing
from course_lib.gpu.ptx.merging import merge_shared_loads
from course_lib.gpu.ptx.parts import Address, Pair, PtxError, Register, Symbol, Vector
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.kernel import Kernel

HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"


def body(text: str, more: str = ""):
    declared = ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;"
    return read(f"{HEAD}.visible .entry k() {{ {declared}{more}\n{text}\nret; }}").entry()


def test_an_instruction_is_opcode_operands_and_guard():
    (i, _) = body("@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+-16];").instructions
    assert (i.name, i.modifiers, [str(t) for t in i.types]) == ("ld", ("global", "v2"), ["f32"])
    assert i.guard is not None and i.guard.negated and i.line == 5
    vector, address = i.operands
    assert isinstance(vector, Vector) and [str(p) for p in vector.parts] == ["%f1", "%f2"]
    assert isinstance(address, Address) and address.offset == -16
    assert str(i) == "@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1-16]"


def test_numbers_are_whole_or_floats_by_their_bits():
    text = """mov.f32 %f1, 0f3FC00000; mov.u32 %r1, 0x1F; mov.u32 %r2, -5;
              mov.f64 %rd1, 0d4004000000000000;"""
    assert [i.operands[1] for i in body(text).instructions[:-1]] == [1.5, 31, -5, 2.5]


def test_a_pair_and_a_symbol():
    (i, j, _) = body("shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1; mov.u32 %r3, t;",
                     ".shared .align 4 .b8 t[64];").instructions  # fmt: skip
    assert isinstance(i.operands[0], Pair) and j.operands[1] == Symbol("t")


def test_registers_of_inner_braces_are_others():
    entry = body("mov.u32 %r1, 1; { .reg .b32 %r1; mov.u32 %r1, 2; } add.s32 %r2, %r1, 0;")
    outer, inner, use, _ = entry.instructions
    assert isinstance(inner.operands[0], Register)
    assert outer.operands[0] == use.operands[1] != inner.operands[0]


def test_debug_directives_and_comments_say_nothing():
    text = '.loc 1 28 0 // here\n/* and\n there */ mov.u32 %r1, 1; .pragma "nounroll";'
    assert [i.opcode for i in body(text).instructions] == ["mov.u32", "ret"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mov.u32 %r1, %r99;", "line 5: %r99 is not declared"),
        ("add.s32 %r1 %r2;", "line 5: ',' is expected, and '%r2' stands there"),
        ("@%r1 bra L; L:", "line 5: %r1 is no predicate"),
        ("\nbra nowhere;", "line 6: no label nowhere"),
        ("mov.u32 %r1, §;", "line 5: '§' has no meaning in PTX"),
        ("mov.u32 [%r1], {;", "an operand is expected, and ';' stands there"),
        ("{ mov.u32 %r1, 4;", "the text ends in the middle"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, words):
    with pytest.raises(PtxError, match=words):
        body(text)


def test_what_is_not_supported_is_named_with_its_line():
    with pytest.raises(PtxError, match=r"line 6: wgmma\.fence\.sync\.aligned is not supported"):
        Kernel(body("\nwgmma.fence.sync.aligned;"))
    with pytest.raises(PtxError, match="functions besides entries"):
        read(HEAD + ".func f() { ret; }")
    with pytest.raises(PtxError, match="addresses of 64 bits"):
        read(".version 7.0\n.address_size 32\n")


def test_a_module_without_or_with_several_entries_wants_a_name():
    module = read(HEAD + ".visible .entry a() { ret; } .visible .entry b() { ret; }")
    assert module.entry("b").name == "b"
    with pytest.raises(PtxError, match="the module has: a, b"):
        module.entry()
    with pytest.raises(PtxError, match="no entry c"):
        module.entry("c")


def test_where_two_ways_meet_and_in_which_order_pieces_come():
    entry = body("""
        setp.eq.s32 %p1, %r1, 0;
        @%p1 bra Then;
        mov.u32 %r2, 1;
        bra Join;
    Then:
        mov.u32 %r2, 2;
    Loop:
        add.s32 %r2, %r2, 1;
        setp.lt.s32 %p2, %r2, 9;
        @%p2 bra Loop;
    Join:
        mov.u32 %r3, %r2;""")
    pieces = flow(entry).pieces
    first, join = pieces[0], pieces[-1]
    assert first.meets == len(pieces) - 1 and len(first.follows) == 2
    loop = next(n for n, p in enumerate(pieces) if n in p.follows)
    assert loop < len(pieces) - 1 and join.follows == (len(pieces),)
    assert "%r2" in outgoing(entry, flow(entry))[loop]
    assert "%p2" not in outgoing(entry, flow(entry))[loop]


def test_neighbouring_loads_of_shared_memory_are_merged_where_the_address_allows_it():
    table = ".shared .align 4 .b8 t[256];"
    loads = " ".join(f"ld.shared.f32 %f{k}, [%r2+{4 * k}];" for k in range(4))
    address = "shl.b32 %r1, %r3, {}; mov.u32 %r4, t; add.s32 %r2, %r4, %r1;"
    for shift, opcodes in ((4, ["ld.shared.v4.f32"]), (3, ["ld.shared.v2.f32"] * 2),
                           (2, ["ld.shared.f32"] * 4)):  # fmt: skip
        entry = body(address.format(shift) + loads, table)
        merged = merge_shared_loads(entry, Kernel(entry).places)
        assert [i.opcode for i in merged.instructions if i.name == "ld"] == opcodes


def test_nothing_is_merged_across_a_store_a_barrier_or_a_use():
    table = ".shared .align 16 .b8 t[256];"
    for between in ("st.shared.f32 [t+128], %f5;", "bar.sync 0;", "add.f32 %f6, %f1, %f2;"):
        entry = body(f"ld.shared.f32 %f1, [t]; {between} ld.shared.f32 %f2, [t+4];", table)
        merged = merge_shared_loads(entry, Kernel(entry).places)
        assert [i.opcode for i in merged.instructions if i.name == "ld"] == ["ld.shared.f32"] * 2
