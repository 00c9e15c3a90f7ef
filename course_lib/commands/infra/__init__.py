"""What several commands need; a command itself is a file of the folder above.

room.py      which commands there are, and the parser of their options
task.py      the model that a command is about, and its inputs
options.py   numbers as options
result.py    what a command returns, and a picture that is printed or written
compare.py   `run --compare`: the same model on a peer
chip.py      `run --target systolic`: the model on the chip
mlir.py      `show --stage mlir`: the model as MLIR
"""
