"""What the chip can be told to do: twelve instructions, their text, their words, their meaning.

    assemble("ldw dram=0 weights=0 rows=4 bytes=4 pitch=4 signal=execute")   ->   [Ldw(...)]

`instructions.py` is the table. Next room: `fault.py`, then `region.py` and on as they say.
"""
