"""Pictures of numbers: time lines, rooflines, tables, grids of cells.

    roofline([Dot("conv", 42, 61e9)], machine)  ->  a dot under the roof

Next room: `timeline.py`.
"""
