"""The lab of unit 10: an operation through the whole of the Toy compiler, a pipeline of MLIR's."""
