"""The lab of unit 7: a product in C++, from three loops to packed tiles."""
