"""A request drawn: sectors as rows, banks as columns, the cost in words."""

import numpy as np

from course_lib.gpu.count.pictures import Access, drawn

LANES = np.arange(32)
ALL = np.ones(32, bool)


def test_a_strided_load_has_a_row_for_each_sector():
    picture = drawn(Access("global", "load", 4096 + 8 * LANES, ALL, 4), "ld.global.f32")
    lines = picture.text.splitlines()
    assert "8 sectors for 32 lanes" in lines[0] and len(lines) == 1 + 8
    assert lines[1].split() == ["sector", "0", "0", "·", "1", "·", "2", "·", "3", "·"]


def test_lanes_that_want_one_word_are_told_as_several():
    picture = drawn(Access("global", "load", np.full(32, 4096), ALL, 4), "ld.global.f32")
    assert picture.text.splitlines()[1].split()[:3] == ["sector", "0", "0+"]


def test_conflicts_stand_below_each_other_in_their_bank():
    some = LANES < 3
    picture = drawn(Access("shared", "load", 128 * LANES, some, 4), "ld.shared.f32")
    lines = picture.text.splitlines()
    assert "3 wavefronts for 3 lanes" in lines[0]
    assert [line.split()[:3] for line in lines[1:]] == [
        ["word", str(k + 1), str(k)] for k in range(3)
    ]


def test_a_vector_fills_several_banks():
    picture = drawn(Access("shared", "store", 16 * LANES, ALL, 16), "st.shared.v4.f32")
    lines = picture.text.splitlines()
    assert "4 wavefronts for 32 lanes" in lines[0] and len(lines) == 1 + 4
    assert lines[1].split()[2:7] == ["0", "0", "0", "0", "1"]
