"""Answers to u13.kept and u13.scales, wrong and right."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, alternatives, mutants
from course_lib.exercises import slot
from lessons.u13.kept import DETOUR

OURS = slot("u13.kept").reference()


def _edited(*pairs, text=OURS):
    """Our program, or another one, with the first of each pair replaced by the second."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return lambda: text


AHEAD = "ldw dram=80 weights=512 rows=4 bytes=4 pitch=4 signal=execute"
BETWEEN = "st acts=256 dram=160 h=1 w=8 bytes=4 step=4 line=64"
LAST = "act accs=32 n=4 params=1 acts=800 h=1 w=8 step=4 line=64 wait=execute"
RELU6 = "acts=256 h=1 w=16 step=4 line=64"
mutants(
    "u13.kept",
    the_detour=_edited(text=DETOUR),
    the_detour_with_relu6=_edited((RELU6, f"{RELU6} low=0 high=120"), text=DETOUR),
    no_limits=_edited((" low=0 high=120", "")),
    a_relu=_edited((" high=120", "")),
    six_as_a_byte=_edited(("high=120", "high=6")),
    no_lower_limit=_edited(("low=0 ", "")),
    limits_after_the_second_layer=_edited(
        ("h=1 w=8 step=4 line=64 wait=execute\n", "h=1 w=8 step=4 line=64 low=0 wait=execute\n")),
    one_entry_for_both_layers=_edited(("params=1", "params=0")),
    does_not_wait_for_the_first_layer=_edited(
        ("wait=store signal=store", "signal=store"), ("execute signal=execute", "execute")),
    leaves_a_token=_edited((LAST, f"{LAST} signal=load")),
    waits_for_what_never_comes=_edited(("wait=load,execute signal=execute", "wait=load,execute")),
    the_weights_of_the_first_layer_again=_edited(("preload weights=512", "preload weights=0")),
    reads_the_image_again=_edited(("matmul acts=256", "matmul acts=0")),
    stores_between=_edited(("st acts=768", f"{BETWEEN}\n st acts=768")),
    a_list_of_lines=lambda: OURS.splitlines(),
)  # fmt: skip
alternatives(
    "u13.kept",
    weights_last=_edited(
        (f"{AHEAD}\n", "\n"), ("preload weights=512", f"{AHEAD}\n preload weights=512")),
    a_remark=_edited(("halt", "# all pixels are done\n halt")),
    other_places=_edited(
        ("weights=512", "weights=600"), ("acts=256", "acts=320"), ("acts=768", "acts=832"),
        ("acts=800", "acts=864")),
)  # fmt: skip

BIASES, SCALES = "np.rint(bias / one)", "(one / y)"
mutants(
    "u13.scales",
    biases_of_the_result=(BIASES, "np.rint(bias / y)"),
    biases_of_the_input=(BIASES, "np.rint(bias / x)"),
    biases_are_cut_off=(BIASES, "np.trunc(bias / one)"),
    biases_are_multiplied=(BIASES, "np.rint(bias * one)"),
    scales_upside_down=(SCALES, "(y / one)"),
    scales_without_the_result=(SCALES, "one"),
    scales_without_the_input=(SCALES, "(weights / y)"),
    one_scale_for_all=("one = x * weights", "one = x * weights.mean() + 0 * weights"),
    doubles=(".astype(np.float32)", ""),
    six_as_a_byte=("round(6 / y)", "6"),
    six_rounded_down=("round(6 / y)", "int(6 / y)"),
    no_limit_of_a_byte=("min(127, round(6 / y))", "round(6 / y)"),
    bytes_without_a_sign=("min(127,", "min(255,"),
    no_relu=("np.float32), 0,", "np.float32), -128,"),
    six_of_the_sums=("round(6 / y)", "round(6 / x)"),
)


@alternative("u13.scales")
def channel_by_channel(x, weights, y, bias):
    biases = [round(b / (x * w)) for w, b in zip(weights, bias, strict=True)]
    high = min(127, int(np.floor(6 / y + 0.5)))
    return [np.array(biases, np.int32), np.array([x * w / y for w in weights], "f"), 0, high]


@alternative("u13.scales")
def by_what_the_numbers_stand_for(x, weights, y, bias):
    sums = [w * x for w in weights.tolist()]
    biases = np.array([round(b / s) for b, s in zip(bias.tolist(), sums, strict=True)])
    factors = np.array(sums, "float32") / np.float32(y)
    return biases.astype("int32"), factors, 0, min(round(6.0 / y), 127)


@alternative("u13.scales")
def limits_by_clipping(x, weights, y, bias):
    low, high = np.clip(np.rint(np.array([0.0, 6.0]) / y), -128, 127).astype(int)
    factors = np.float32(x) * weights.astype(np.float32) / np.float32(y)
    return np.round(bias / x / weights).astype(np.int32), factors, low, high
