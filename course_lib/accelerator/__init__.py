"""The chip: a systolic array of multiply-accumulate cells, and what makes a machine of it.

    wavefront(a, b, SystolicArray(16, 16))   ->   the product, and 18,304 cycles
    simulate(assemble(text), dram, chip)     ->   what a program of the chip leaves behind, clocks

Here stand the array of unit 0, clock by clock, its cycle count as a formula, and the matrix
products that a model asks of it; all dataflows, at three levels (`array/`); the description of a
whole chip (`chip.py`), its instructions (`isa/`), the chip at work (`core/`) and what it looks like
(`trace/`). Next room: `systolic.py`.
"""
