"""Graph to graph: every optimization is a function that takes a program and returns one.

    graph @f(%x: f32[4]) -> (f32[4]) {          graph @f(%x: f32[4]) -> (f32[4]) {
      %0 = constant dense<2.0> : f32[]            %0 = mul(%x, %x) : f32[4]
      %1 = pow(%x, %0) : f32[4]            ==>    return %0
      return %1                                 }
    }

One pass is one file with one public function of the file's name. No pass changes its argument; the
manager verifies the graph between two passes.

    infra/    patterns, rules, rewriting, the manager      clean/    less work, the same structure
    prepare/  numbers for sizes, f32 for f16, composites   fusion/   several operations, one kernel
    layout/   how images lie in memory                     pipeline.py   the compiler's list

Read `clean/dce.py` and `clean/cse.py` first, then `infra/rewrite.py` (with `infra/match.py` and
`infra/rule.py`), then `pipeline.py` for the order in which the compiler runs them.
Next room: `clean/dce.py`.
"""
