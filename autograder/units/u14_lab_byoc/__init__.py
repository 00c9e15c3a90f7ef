"""Lab beside unit 14: a backend of TVM, from patterns to the call of the chip."""
