"""Answers to unit 5: plausible mistakes that the checks must catch, other right ones that pass.

Here: what is read. Next room: written.py, counter.py, flow.py.
"""

from __future__ import annotations

import ctypes

import numpy as np

from autograder.check.framework import alternative, mutant


def _offset(turn, channel, *, size=20, start=1, step=2, field=4, scale=4):
    return size * (start + step * turn) + field + scale * channel


@mutant("u05.offset")
def without_alignment(turn, channel):
    return _offset(turn, channel, size=17, field=1)


@mutant("u05.offset")
def the_field_is_not_aligned(turn, channel):
    return _offset(turn, channel, field=1)


@mutant("u05.offset")
def from_pixel_0(turn, channel):
    return _offset(turn, channel, start=0)


@mutant("u05.offset")
def every_pixel(turn, channel):
    return _offset(turn, channel, step=1)


@mutant("u05.offset")
def index_1_is_one_byte(turn, channel):
    return _offset(turn, channel, field=1, size=20)


@mutant("u05.offset")
def channels_in_bytes(turn, channel):
    return _offset(turn, channel, scale=1)


@mutant("u05.offset")
def the_end_of_the_structure_is_forgotten(turn, channel):
    return _offset(turn, channel, size=16)


@alternative("u05.offset")
def with_ctypes(turn, channel):
    class Pixel(ctypes.Structure):
        _fields_ = (
            ("kind", ctypes.c_int8),
            ("values", ctypes.c_float * 3),
            ("name", ctypes.c_int32),
        )

    return ctypes.sizeof(Pixel) * (2 * turn + 1) + Pixel.values.offset + 4 * channel


@alternative("u05.offset")
def with_numpy(turn, channel):
    pixel = np.dtype([("a", "i1"), ("b", "f4", 3), ("c", "i4")], align=True)
    return np.int64(pixel.itemsize * range(1, 10**6, 2)[turn] + pixel.fields["b"][1] + channel * 4)


@alternative("u05.offset")
def turn_by_turn(turn, channel):
    at = 24.0 + 4 * channel
    for _ in range(turn):
        at += 40
    return at


RIGHT = {"A": "LICM", "B": "SimplifyCFG", "C": "SROA", "D": "LoopRotate", "E": "EarlyCSE",
         "F": "InstCombine"}  # fmt: skip


@mutant("u05.passes")
def dead_code():
    return {**RIGHT, "E": "ADCE"}


@mutant("u05.passes")
def rotation_is_unrolling():
    return {**RIGHT, "D": "LoopUnroll"}


@mutant("u05.passes")
def hoisting_is_cse():
    return {**RIGHT, "A": "EarlyCSE", "E": "LICM"}


@mutant("u05.passes")
def one_is_missing():
    return {letter: name for letter, name in RIGHT.items() if letter != "F"}


@mutant("u05.passes")
def memory_goes_because_it_is_dead():
    return {**RIGHT, "C": "ADCE"}


@mutant("u05.passes")
def another_name():
    return {**RIGHT, "C": "mem2reg"}


@alternative("u05.passes")
def with_more():
    return {"G": "ADCE", **RIGHT}


@alternative("u05.passes")
def from_pairs():
    return dict(zip("FEDCBA", list(RIGHT.values())[::-1], strict=True))


@alternative("u05.passes")
def in_words():
    return dict(word.split("=") for word in " ".join(f"{k}={v}" for k, v in RIGHT.items()).split())
