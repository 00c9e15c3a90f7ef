"""The chip: a systolic array of multiply-accumulate cells.

    wavefront(a, b, SystolicArray(16, 16))   ->   the product, and 18,304 cycles

Here stand the array, clock by clock, its cycle count as a formula, and the matrix products that a
model asks of it. Instruction set, scratchpads, DMA and the compiler from tiles to instructions are
not written yet (units 12 and 13). Next room: `systolic.py`.
"""
