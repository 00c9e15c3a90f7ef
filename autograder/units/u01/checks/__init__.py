"""Visible checks of unit 1, Graphs as IR.

Windows are checked in windows.py, orders and definitions in order.py and defined.py, recordings in
recording.py, what need not run in redundancy.py, and the rest in numbers.py. What the answers are
shown stands in programs.py.
"""
