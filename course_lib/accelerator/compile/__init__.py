"""From an integer graph to the chip's program.

support.py     which ops the chip has, as patterns     partition.py   what goes to the chip

Next room: `support.py`.
"""
