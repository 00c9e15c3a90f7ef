"""Unit 5, LLVM IR and counting multiply-adds."""
