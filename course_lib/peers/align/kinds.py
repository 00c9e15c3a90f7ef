"""What an operation is, by the word that a system has for it: one table for all of them.

    kinds("aten.bmm.default")                     ->  {"matmul"}
    kinds("reduce_max_exp_reduce_sum_div_0")      ->  {"reduce_max", "exp", ..., "pointwise"}
    kinds("com.microsoft.nchwc.Conv")             ->  {"conv"}

A word is cut where capitals begin and at what is no letter, so that `FusedMatMul`, `batch_matmul`
and the name of a kernel are read alike. What has no row is {"other"}: nothing is passed over that
is not known. Next room: `statement.py`.
"""

from __future__ import annotations

import re
from functools import cache

ROWS = {
    "attention": r"scaled_dot_product(?:_\w*?)?_attention|(?:(?:multi_?head|flash)_)?attention",
    "softmax": "soft_?max",
    "matmul": "mat_?mul|gemm|b?mm|baddbmm|addmm|dot_general|dot|linear|dense|mmt4d|fully_connected",
    "conv": r"conv(?:olution)?(?:_?\d_?d)?",
    "norm": "batch_?norm(?:alization)?",
    "pool": r"(?:max|avg|average|adaptive_avg|mean)_?pool(?:ing)?(?:_?\d?d)?(?:_with_indices)?",
    "curve": "(?:p|leaky|c|s)_?re_?lu|g?elu|silu|swish",
    "relu": "re_?lu6?|clip|clamp|hardtanh",
    "exp": "exp(?:onential)?2?",
    "reduce_max": "reduce_max|amax",
    "reduce_sum": "reduce_sum|sum",
    "max": "max(?:imum)?f?|maxnumf",
    "pointwise": "add|sub|mul|div|subtract|multiply|divide|true_divide|addf|subf|mulf|divf|neg"
    "|negate|negf|select|where|masked_fill|reciprocal|min(?:imum)?f?|tanh|cmpf|cmp(?:lt|ne)?|compare|sign|rsqrt|sqrt",
    "movement": "reshape|relayout|transpose|permute(?:_dims)?|view|expand(?:_dims)?|expand_shape"
    "|collapse_shape|broadcast(?:_in_dim|_to)?|slice|squeeze|unsqueeze|copy_?"
    "|convert(?:_element_type)?|to_memory_format|concat|concatenate|gather|repeat_interleave|repeat"
    "|cast|bitcast|contiguous|clone|identity|dropout|flatten|reorder|stop_gradient|getitem|extract_slice"
    "|insert_slice|extract|load|store|import|export|barrier|t|type_as",
    "constant": "constant|full|zeros|ones|iota|arange|const|empty|fill|init_tensor",
}
WORD = re.compile(
    "|".join(f"(?P<{kind}>{row})" for kind, row in ROWS.items()).join(("_(?:", ")(?=_)"))
)


@cache
def kinds(word: str) -> frozenset[str]:
    """The kinds of what a word says, of all its parts."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+", "_", word)
    plain = re.sub(r"(?<=[a-z]{2})\d+(?=_|$)", "", re.sub("_+", "_", snake).lower())  # matmul1
    found = WORD.finditer(f"_{plain}_")
    return frozenset(kind for one in found if (kind := one.lastgroup)) or frozenset({"other"})
