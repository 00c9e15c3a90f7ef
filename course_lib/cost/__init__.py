"""What a program costs, estimated or counted; nothing here runs or measures anything.

    machine.py   a processor in a few numbers        layout.py   convolutions in each layout
    work.py      the operations that loops execute   tile.py     a tile of accumulators
    blocks.py    a large product in parts that caches keep
    trace.py     the bytes that a kernel touches      reuse.py    how soon it touches them again
    cache.py     what a cache of some size would miss
    footprint.py the same by formula                 nest.py     the price of any scheduled kernel

Next room: `machine.py`.
"""
