"""A dialect for our own chip: from `linalg.matmul` to its instructions.

    linalg.matmul ins(%x, %w : tensor<197x768xi8>, tensor<768x768xi8>) ...
    ->  npu.product  ->  loops of npu.dma_load, npu.matmul, npu.activate, npu.dma_store
    ->  two or more slots in each buffer  ->  no loops  ->  lda, ldw, preload, matmul, act, st

    the dialect   machine.py  dialect.py  module.py
    downwards     product.py  loops.py  tile.py  double_buffer.py  unroll.py  keep.py  sums.py
                  ahead.py  emit.py;  layout.py, what the caller does to operands
    meaning       npu_interp.py, the oracle;  counts.py, operations and bytes
    once more     irdl_text.py, npu.irdl.mlir: as data;  ods/: as records and C++

`stages.py` runs them in order. What the chip can do and how long it takes is in
`course_lib/accelerator`. Next room: `example.py`.
"""
