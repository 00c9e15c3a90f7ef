"""What other passes need first: numbers for symbolic sizes, f32 for f16, composites spelled out.

    softmax(%x: f32[n,10])  ->  softmax(%x: f32[1,10])  ->  reduce_max, sub, exp, reduce_sum, div

Next room: `decompose.py`.
"""
