"""Answers to unit 1 that are read off graphs, forms and tables: ours with some of it changed."""

from __future__ import annotations

from autograder.check.framework import alternatives, mutants
from course_lib.exercises import slot

FX = slot("u01.fx").reference()
FORMS = slot("u01.boundaries").reference()
ROWS = slot("u01.llvm").reference()

mutants(
    "u01.fx",
    what_is_read_twice_is_common=lambda: FX | {"simple": (6, "cse")},
    operations_only=lambda: {name: (count - 2, passes) for name, (count, passes) in FX.items()},
    folds_what_python_has_folded=lambda: FX | {"six": (5, "fold")},
    merges_two_random_numbers=lambda: FX | {"noise": (5, "cse")},
    weights_are_inputs=lambda: FX | {"gate": (10, "dce cse")},
    passes_after_one_another=lambda: FX | {"twice": (5, "cse dce")},
    counts_alone=lambda: {name: count for name, (count, _) in FX.items()},
)
alternatives(
    "u01.fx",
    as_lists=lambda: {name: [*pair] for name, pair in FX.items()},
    in_another_order=lambda: {k: (n, " ".join(p.split()[::-1])) for k, (n, p) in FX.items()},
    with_commas=lambda: {k: (n, p.replace(" ", ", ")) for k, (n, p) in reversed(FX.items())},
)

mutants(
    "u01.boundaries",
    the_order_that_runs=lambda: FORMS | {"ours order": "scheduled loops"},
    an_index_is_a_place=lambda: FORMS | {"ours layout": "loops"},
    # the graph lists one operation; its multiplications are not in it
    a_list_has_an_order=lambda: FORMS | {"ours order": "graph"},
    ranges_are_loops=lambda: FORMS | {"tinygrad order": "kernel"},
    a_kernel_keeps_shapes=lambda: FORMS | {"tinygrad shape": "linear"},
    shapes_live_until_assembly=lambda: FORMS | {"ours shape": "assembly"},
)
alternatives(
    "u01.boundaries",
    in_small_letters=lambda: {key: name.lower() for key, name in FORMS.items()},
    turned_around=lambda: dict(reversed(FORMS.items())),
    with_spaces=lambda: {key: f" {name} " for key, name in FORMS.items()},
)

mutants(
    "u01.llvm",
    phi_is_for_loops=lambda: ROWS | {"false": "RTU"},
    all_values_are_large=lambda: ROWS | {"false": "QTU"},
    the_order_costs_memory_only=lambda: ROWS | {"false": "QRU"},
    fusion_saves_traffic_only=lambda: ROWS | {"false": "QRSTU"},
    the_graph_is_the_source=lambda: ROWS | {"1": "B", "3": "F"},
    places_are_weights=lambda: ROWS | {"9": "G"},
)
alternatives(
    "u01.llvm",
    in_small_letters_too=lambda: {key: letter.lower() for key, letter in ROWS.items()},
    false_as_a_list=lambda: ROWS | {"false": list("UTRQ")},
    spelled_with_commas=lambda: ROWS | {"false": "Q, R, T, U"},
)
