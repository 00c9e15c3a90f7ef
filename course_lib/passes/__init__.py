"""Graph to graph: every optimization is a function that takes a program and returns one.

    graph @f(%x: f32[4]) -> (f32[4]) {          graph @f(%x: f32[4]) -> (f32[4]) {
      %0 = constant dense<2.0> : f32[]            %0 = mul(%x, %x) : f32[4]
      %1 = pow(%x, %0) : f32[4]            ==>    return %0
      return %1                                 }
    }

One pass is one file with one public function of the file's name. No pass changes its argument; the
manager verifies the graph between two passes. Read `dce.py` and `cse.py` first, then `rewrite.py`
(with `match.py` and `rule.py`), then `manager.py` for the order in which the compiler runs them.
"""
