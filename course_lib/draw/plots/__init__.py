"""Pictures of numbers: time lines, grids of cells, charts, rooflines, tables.

    roofline([Dot("conv", 42, 61e9)], machine)  ->  a dot under the roof

Next room: `timeline.py`.
"""
