"""From an integer graph to the chip's program.

support.py     which ops the chip has, as patterns     partition.py   what goes to the chip
product.py     a layer as the chip sees it             tiles.py       what fits into the SRAMs
walk.py        the order of the tiles                  slots.py       what is still on the chip
emit.py        their instructions                      products.py    the array's among them
tokens.py      which engine waits for which            estimate.py    how long it takes, about
search.py      the tile of each layer                  vector.py      sums, pooling, means
unit.py        the array alone, for who knows no layers
layer.py       a match with its addresses              build.py       all layers: one program
offload.py     parts for the chip, parts for others    report.py     what a run cost, by layer

Next room: `support.py`.
"""
