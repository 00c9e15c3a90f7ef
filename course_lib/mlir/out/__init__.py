"""A graph of ours as MLIR's text: linalg on tensors. No package of MLIR is needed for it.

    %0 = relu(%x) : f32[4]     ->     %0 = linalg.generic {...} ins(%x : tensor<4xf32>) ...

Next room: `writer.py`, then `scalars.py` and on as they say, to `to_mlir.py`.
"""
