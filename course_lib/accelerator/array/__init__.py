"""The array of cells alone: three dataflows, each simulated three times, and what they move.

    multiply(a, b, SystolicArray(32, 32, dataflow="ws"), level=0)   ->   values, cycles, utilization

Level 0 steps every register of every cell, level 1 all tiles at once, level 2 is a formula. They
agree in every value and every cycle, and with an array in Verilog. Next room: `dataflow.py`.
"""
