"""Mutants and alternatives of unit 15: a function in fewer graphs. Next room: evidence.py."""

from __future__ import annotations

from autograder.check.framework import alternatives, mutants

PRINT = '    print("rows:", x.shape[0])\n'
H = "    h = torch.relu(x @ w)\n"
HALF = "    h = torch.where(h.mean() > 0.5, h / 2, h)\n"
TOP = "    top = torch.clamp(h.max(), max=4.0)\n"
END = "    return h * top\n"


def text(*lines: str) -> str:
    return "".join(["\ndef scaled(x, w):\n", *lines])


MEAN, LARGEST = "h.mean() > 0.5", "torch.clamp(h.max(), max=4.0)"
mutants(
    "u15.repaired",
    as_it_stands=lambda: text(H, PRINT, "    if h.mean() > 0.5:\n        h = h / 2\n",
                              "    return h * min(h.max().item(), 4.0)\n"),
    prints_nothing=lambda: text(H, HALF, TOP, END),
    prints_another_number=("x.shape[0]", "w.shape[0]"),
    prints_at_the_end_and_in_the_middle=lambda: text(PRINT, H, PRINT, HALF, TOP, END),
    always_halved=lambda: text(PRINT, H, "    h = h / 2\n", TOP, END),
    never_halved=lambda: text(PRINT, H, TOP, END),
    # Each element by itself, not their mean.
    halves_what_is_large=(MEAN, "h > 0.5"),
    the_other_branch=("h / 2, h)", "h, h / 2)"),
    the_largest_before_it_is_halved=lambda: text(PRINT, H, TOP, HALF, END),
    at_least_four=("max=4.0", "min=4.0"),
    each_element_at_most_four=(LARGEST, "h.max()", "h * top", "torch.clamp(h * top, max=4.0)"),
    without_a_limit=(LARGEST, "h.max()"),
    only_the_branch_is_mended=lambda: text(H, PRINT, HALF, "    top = h.max().item()\n",
                                           "    return h * min(top, 4.0)\n"),
    all_three_stay=lambda: text(H, PRINT, HALF, "    top = h.max().item()\n", "    print()\n",
                                "    return h * min(top, 4.0)\n"),
    a_mean_of_exactly_a_half=(MEAN, "h.mean() >= 0.5"),
    a_mean_of_a_little_more=(MEAN, "h.mean() > 0.5003"),
    the_sum_in_place_of_the_mean=(MEAN, "h.sum() > 0.5"),
    the_mean_before_relu=(MEAN, "(x @ w).mean() > 0.5"),
    without_relu=("torch.relu(x @ w)", "x @ w"),
    the_largest_of_a_column=("h.max()", "h.amax(0)"),
    eight_before_it_is_halved=lambda: text(
        PRINT, H, "    top = torch.clamp(h.max(), max=8.0) / 2\n", HALF, END),
    prints_the_rows_of_one_input=("x.shape[0]", "4"),
    prints_in_another_form=lambda: text('    print(f"rows:{len(x)}")\n', H, HALF, TOP, END),
    repaired_for_four_rows=lambda: text(
        "    if x.shape[0] == 4:\n",
        *("    " + line for line in (PRINT, H, HALF, TOP, END)), H, PRINT,
        "    if h.mean() > 0.5:\n        h = h / 2\n", "    return h * min(h.max().item(), 4.0)\n"),
    no_text=lambda: None,
    with_an_import=lambda: "import torch\n" + text(PRINT, H, HALF, TOP, END),
    reaches_out=lambda: text(PRINT, "    torch.load(x)\n", H, HALF, TOP, END),
    through_a_class=lambda: text(PRINT, "    x.__class__\n", H, HALF, TOP, END),
)  # fmt: skip
alternatives(
    "u15.repaired",
    with_minimum=lambda: text(PRINT, H, HALF, "    return torch.minimum(h * h.max(), h * 4.0)\n"),
    with_a_number=lambda: text(PRINT, H, "    m = (h.mean() > 0.5) * 0.5\n",
                               "    h = h * (1 - m)\n", TOP, "    return top * h\n"),
    with_methods=lambda: text(PRINT, "    h = (x @ w).relu()\n", HALF,
                              "    return h * h.max().clamp(max=4.0)\n"),
    prints_last=lambda: text(H, HALF, TOP, "    h = h * top\n", PRINT, "    return h\n"),
    not_indented=lambda: text(PRINT, H, HALF, TOP, END),
    with_a_length=lambda: text('    print("rows:", len(x))\n', H, HALF, TOP, END),
    with_an_f_string=lambda: text('    print(f"rows: {x.size(0)}")\n', H, HALF, TOP, END),
    with_a_sum_of_texts=lambda: text(
        '    print("rows: " + str(x.shape[0]), end="\\n")\n', H, HALF, TOP, END),
    with_functions=lambda: text(
        PRINT, "    h = torch.relu(torch.matmul(x, w))\n", HALF,
        "    return h * torch.minimum(h.amax(), torch.tensor(4.0))\n"),
    with_types=lambda: "def scaled(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:\n" + "".join(
        [PRINT, H, HALF, TOP, END]),
)  # fmt: skip
