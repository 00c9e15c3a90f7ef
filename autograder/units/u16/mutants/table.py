"""Answers to u16.paths, wrong and right. Next room: texts.py."""

from __future__ import annotations

from autograder.check.framework import alternatives, mutants
from course_lib.exercises import slot

OWN = "**{name: {} for name in own}"
ARM = "{'IREE': 5, 'TVM': 7}"


def _row(name, **ways):
    """Our answer with another row."""
    return lambda: {**slot("u16.paths").reference(), name: ways}


mutants(
    "u16.paths",
    # the names are alike
    the_edge_tpu_is_a_tpu=_row("Coral Edge TPU", XLA=2),
    the_plugin_is_for_gaudi=_row("Intel Gaudi 3", XLA=3),
    metal_is_the_neural_engine=_row("Apple Neural Engine", IREE=4),
    apples_gpu_is_the_neural_engine=_row("Apple Neural Engine", XLA=1),
    # under development
    triton_for_processors=(ARM, "{'IREE': 5, 'TVM': 7, 'Triton': 6}"),
    cpus_are_microcontrollers=(ARM, "{'IREE': 5, 'TVM': 7, 'XLA': 1}"),
    without_microtvm_no_way=(ARM, "{'IREE': 5}"),
    no_way_to_a_microcontroller=(ARM, "{}"),
    bare_metal_is_any_cpu=(ARM, "{'IREE': 4, 'TVM': 7}"),
    triton_is_for_nvidia=_row("AMD MI300X", XLA=1, IREE=4, TVM=7),
    cuda_is_not_triton=_row("NVIDIA H200", XLA=1, IREE=4, TVM=7),
    the_makers_compiler=_row("Intel Gaudi 3", SynapseAI=10),
    core_ml=_row("Apple Neural Engine", **{"Core ML": 9}),
    the_fact_about_jax=_row("Google TPU v5e", XLA=1),
    without_empty_rows=(f", {OWN}", ""),
    another_device=_row("Intel GPU Max", XLA=3),
    yes_instead_of_numbers=("{'XLA': 2}", "{'XLA': True}"),
    lists_of_names=("{'XLA': 2}", "['XLA']"),
    a_fact_that_is_not_there=("{'XLA': 2}", "{'XLA': 13}"),
)  # fmt: skip
alternatives(
    "u16.paths",
    in_another_order=("'XLA': 1, 'IREE': 4, 'TVM': 7, 'Triton': 6",
                      "'Triton': 6, 'TVM': 7, 'IREE': 4, 'XLA': 1"),
    made_by_a_loop=lambda: {
        **{d: {"XLA": 1, "IREE": 4, "TVM": 7, "Triton": 6} for d in ("NVIDIA H200", "AMD MI300X")},
        "Google TPU v5e": dict(XLA=2),
        **{d: {} for d in ("Intel Gaudi 3", "Apple Neural Engine", "Coral Edge TPU")},
        "Cortex-M, no system": {"TVM": 7, "IREE": 5},
    },
    the_last_row_first=lambda: {
        "Cortex-M, no system": {"IREE": 5, "TVM": 7}, "Coral Edge TPU": {},
        "Apple Neural Engine": {}, "Intel Gaudi 3": {}, "Google TPU v5e": {"XLA": 2},
        "AMD MI300X": {"XLA": 1, "IREE": 4, "TVM": 7, "Triton": 6},
        "NVIDIA H200": {"Triton": 6, "TVM": 7, "IREE": 4, "XLA": 1},
    },
)  # fmt: skip
