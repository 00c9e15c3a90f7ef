"""Level 1: a graph of tensor operations. The values, the ways to build them, text, meaning.

graph.py      Node and Graph                     text.py, parse.py   printed, and read back
build.py      one function for each op           verify.py           is this a legal program?
interp.py     what a graph means, in numpy       provenance.py       which line of the model
"""
