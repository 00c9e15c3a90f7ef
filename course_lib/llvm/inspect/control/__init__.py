"""How often each block of an LLVM function runs, read off its structure.

view.py     llvmlite's view of a function, as plain data
order.py    dominators and natural loops
numbers.py  integers that are known before anything runs
trips.py    how often a loop turns
balance.py  what flows into a block flows out of it
runs.py     from trip counts to the runs of each block

Next room: `view.py`.
"""
