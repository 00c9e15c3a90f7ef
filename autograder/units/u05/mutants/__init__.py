"""Answers to unit 5: plausible mistakes that the checks must catch, other right ones that pass.

Here: what is read. Next room: written.py, counter.py, flow.py.
"""

from __future__ import annotations

import ctypes
import itertools

import numpy as np

from autograder.check.framework import alternative, alternatives, mutants

PIXEL, FIELD = "20 * pixel + 4", "+ 4 +"

mutants(
    "u05.offset",
    without_alignment=(PIXEL, "17 * pixel + 1"),
    the_field_is_not_aligned=(FIELD, "+ 1 +"),
    from_pixel_0=("1 + 2 * turn", "2 * turn"),
    every_pixel=("2 * turn", "turn"),
    index_1_is_one_byte=("+ 4 + 4 * channel", "+ 1 + channel"),
    channels_in_bytes=("4 * channel", "channel"),
    the_end_of_the_structure_is_forgotten=("20", "16"),
)


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

GUESSES = itertools.cycle(["LoopRotate", "LoopUnroll"])

mutants(
    "u05.passes",
    dead_code=lambda: {**RIGHT, "E": "ADCE"},
    rotation_is_unrolling=lambda: {**RIGHT, "D": "LoopUnroll"},
    hoisting_is_cse=lambda: {**RIGHT, "A": "EarlyCSE", "E": "LICM"},
    one_is_missing=lambda: {letter: name for letter, name in RIGHT.items() if letter != "F"},
    memory_goes_because_it_is_dead=lambda: {**RIGHT, "C": "ADCE"},
    another_name=lambda: {**RIGHT, "C": "mem2reg"},
    # A guess that is right the first time.
    a_guess=lambda: {**RIGHT, "D": next(GUESSES)},
)
alternatives(
    "u05.passes",
    with_more=lambda: {"G": "ADCE", **RIGHT},
    from_pairs=lambda: dict(zip("FEDCBA", list(RIGHT.values())[::-1], strict=True)),
    in_words=lambda: dict(
        word.split("=") for word in " ".join(f"{k}={v}" for k, v in RIGHT.items()).split()
    ),
)
