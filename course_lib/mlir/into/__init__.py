"""Linalg on tensors, as text, back into a graph of ours.

    %0 = linalg.matmul ins(%x, %w : ...) outs(%f : ...) -> ...     ->     %0 = matmul(%x, %w) : ...

Next room: `lexer.py`.
"""
