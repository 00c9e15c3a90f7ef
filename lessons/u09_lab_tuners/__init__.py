"""What the lab of unit 9 shows (tuners): tinygrad, logs of TVM, tables."""
