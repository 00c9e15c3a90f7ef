"""Passes that put several operations into one kernel: what may be fused, what pays, and how.

    %0 = conv(%x, %w)
    %1 = relu(%0)           ==>     %0 = fused(%x, %w) {body = conv, relu}

Next room: `horizontal.py`.
"""
