"""Level 1: a graph of tensor operations. The values, the ways to build them, text, meaning.

node.py       a value, and `apply`, which makes one     graph.py        a program, and its text
order.py      each value after what it needs            parse.py        the text, read back
build.py      one function for each op                  verify.py       is this a legal program?
samples.py    random inputs of the right types          provenance.py   which line of the model
graph_interp.py   what a graph means, in numpy
"""
