"""The lab of unit 9: what searches of tinygrad and TVM cost and find, and a cost model."""
