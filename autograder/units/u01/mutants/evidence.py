"""Answers to unit 1 that are read off graphs, forms and tables."""

from __future__ import annotations

from autograder.check.framework import alternative, mutant

# ── u01.fx ──

_FX = {
    "simple": (6, ""),
    "twice": (5, "cse"),
    "spare": (4, "dce"),
    "six": (4, ""),
    "noise": (5, ""),
    "gate": (10, "fold dce cse"),
}


@mutant("u01.fx")
def what_is_read_twice_is_common():
    return _FX | {"simple": (6, "cse")}


@mutant("u01.fx")
def operations_only():
    return {name: (count - 2, passes) for name, (count, passes) in _FX.items()}


@mutant("u01.fx")
def folds_what_python_has_folded():
    return _FX | {"six": (5, "fold")}


@mutant("u01.fx")
def merges_two_random_numbers():
    return _FX | {"noise": (5, "cse")}


@mutant("u01.fx")
def weights_are_inputs():
    return _FX | {"gate": (10, "dce cse")}


@mutant("u01.fx")
def passes_after_one_another():
    return _FX | {"twice": (5, "cse dce")}


@mutant("u01.fx")
def counts_alone():
    return {name: count for name, (count, _) in _FX.items()}


@alternative("u01.fx")
def as_lists():
    return {name: [count, passes] for name, (count, passes) in _FX.items()}


@alternative("u01.fx")
def in_another_order():
    return {name: (n, " ".join(reversed(passes.split()))) for name, (n, passes) in _FX.items()}


@alternative("u01.fx")
def with_commas():
    return {name: (n, passes.replace(" ", ", ")) for name, (n, passes) in reversed(_FX.items())}


# ── u01.boundaries ──

_FORMS = {
    "ours order": "loops",
    "ours layout": "scheduled loops",
    "ours shape": "LLVM IR",
    "tinygrad order": "linear",
    "tinygrad layout": "kernel",
    "tinygrad shape": "kernel",
}


@mutant("u01.boundaries")
def the_order_that_runs():
    return _FORMS | {"ours order": "scheduled loops"}


@mutant("u01.boundaries")
def an_index_is_a_place():
    return _FORMS | {"ours layout": "loops"}


@mutant("u01.boundaries")
def a_list_has_an_order():
    """The graph lists one operation; its multiplications are not in it."""
    return _FORMS | {"ours order": "graph"}


@mutant("u01.boundaries")
def ranges_are_loops():
    return _FORMS | {"tinygrad order": "kernel"}


@mutant("u01.boundaries")
def a_kernel_keeps_shapes():
    return _FORMS | {"tinygrad shape": "linear"}


@mutant("u01.boundaries")
def shapes_live_until_assembly():
    return _FORMS | {"ours shape": "assembly"}


@alternative("u01.boundaries")
def in_small_letters():
    return {key: name.lower() for key, name in _FORMS.items()}


@alternative("u01.boundaries")
def turned_around():
    return dict(reversed(_FORMS.items()))


@alternative("u01.boundaries")
def with_spaces():
    return {key: f" {name} " for key, name in _FORMS.items()}


# ── u01.llvm ──

_ROWS = dict(zip(map(str, range(1, 13)), "FJBLHNDAMECI", strict=True)) | {"false": "QRTU"}


@mutant("u01.llvm")
def phi_is_for_loops():
    return _ROWS | {"false": "RTU"}


@mutant("u01.llvm")
def all_values_are_large():
    return _ROWS | {"false": "QTU"}


@mutant("u01.llvm")
def the_order_costs_memory_only():
    return _ROWS | {"false": "QRU"}


@mutant("u01.llvm")
def fusion_saves_traffic_only():
    return _ROWS | {"false": "QRSTU"}


@mutant("u01.llvm")
def the_graph_is_the_source():
    return _ROWS | {"1": "B", "3": "F"}


@mutant("u01.llvm")
def places_are_weights():
    return _ROWS | {"9": "G"}


@alternative("u01.llvm")
def in_small_letters_too():
    return {key: letter.lower() for key, letter in _ROWS.items()}


@alternative("u01.llvm")
def false_as_a_list():
    return _ROWS | {"false": list("UTRQ")}


@alternative("u01.llvm")
def spelled_with_commas():
    return _ROWS | {"false": "Q, R, T, U"}
