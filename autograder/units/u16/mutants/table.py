"""Answers to u16.paths, wrong and right. Next room: texts.py."""

from __future__ import annotations

from autograder.check.framework import alternatives, mutants

mutants(
    "u16.paths",
    # the names are alike
    the_edge_tpu_is_a_tpu=("'Coral Edge TPU': {}", "'Coral Edge TPU': {'XLA': 2}"),
    the_plugin_is_for_gaudi=("'Intel Gaudi 3': {}", "'Intel Gaudi 3': {'XLA': 3}"),
    metal_is_the_neural_engine=("'Apple Neural Engine': {}", "'Apple Neural Engine': {'IREE': 4}"),
    apples_gpu_is_the_neural_engine=("'Apple Neural Engine': {}",
                                     "'Apple Neural Engine': {'XLA': 1}"),
    # under development
    triton_for_processors=("{'IREE': 5, 'TVM': 7}", "{'IREE': 5, 'TVM': 7, 'Triton': 6}"),
    cpus_are_microcontrollers=("{'IREE': 5, 'TVM': 7}", "{'IREE': 5, 'TVM': 7, 'XLA': 1}"),
    microtvm_is_the_way=("{'IREE': 5, 'TVM': 7}", "{'IREE': 5}"),
    no_way_to_a_microcontroller=("{'IREE': 5, 'TVM': 7}", "{}"),
    bare_metal_is_any_cpu=("{'IREE': 5, 'TVM': 7}", "{'IREE': 4, 'TVM': 7}"),
    triton_is_for_nvidia=("'AMD MI300X': {'XLA': 1, 'IREE': 4, 'TVM': 7, 'Triton': 6}",
                          "'AMD MI300X': {'XLA': 1, 'IREE': 4, 'TVM': 7}"),
    the_makers_compiler=("'Intel Gaudi 3': {}", "'Intel Gaudi 3': {'SynapseAI': 10}"),
    core_ml=("'Apple Neural Engine': {}", "'Apple Neural Engine': {'Core ML': 9}"),
    numbers_from_zero=("'Google TPU v5e': {'XLA': 2}", "'Google TPU v5e': {'XLA': 1}"),
    without_empty_rows=("'Intel Gaudi 3': {}, ", ""),
    yes_instead_of_numbers=("'Google TPU v5e': {'XLA': 2}", "'Google TPU v5e': {'XLA': True}"),
    lists_of_names=("'Google TPU v5e': {'XLA': 2}", "'Google TPU v5e': ['XLA']"),
)  # fmt: skip
alternatives(
    "u16.paths",
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
