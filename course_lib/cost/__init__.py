"""What a program costs, estimated or counted; nothing here runs or measures anything.

    machine.py   a processor in a few numbers        layout.py   convolutions in each layout
    work.py      the operations that loops execute   tile.py     a tile of accumulators

Next room: `machine.py`.
"""
