"""From a model of floats to one of 8-bit integers.

calibrate.py   how large each value gets          site.py       what is rounded together
quantize.py    quantize-dequantize pairs          integers.py   the pairs become integer ops
to_int8.py     all of it, one after the other

Next room: `to_int8.py`.
"""
