"""The chip: a systolic array of multiply-accumulate cells, and the compiler that programs it.

    matmul(%x, %w) : i32[64,64]   ==>   LDW, LDA, PRELOAD, MATMUL, ST ... and a number of cycles

Nothing stands here yet. Unit 12 (systolic arrays) brings the array and its cycle counts; unit 13
(a custom backend) brings instruction set, scratchpads, DMA and the compiler from tiles to
instructions. Until then models run on the CPU: next room `course_lib/llvm`.
"""
