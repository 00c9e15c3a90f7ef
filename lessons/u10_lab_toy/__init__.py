"""The lab of unit 10: an operation for Toy, and a pipeline of MLIR's passes. Next room: toy.py."""
