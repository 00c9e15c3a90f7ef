"""The NPU dialect once more, as MLIR's own dialects are made: records, and C++ behind them.

    npu.td        ODS: operations, attributes, constraints; mlir-tblgen makes C++ of it
    npu.h         what that and our C++ share
    machine.cpp   the chip, and how matrices lie in panels
    verify.cpp    the rules that no record can say
    npu.cpp       the plugin that mlir-opt loads; effects; one rewrite
    chips.py      the chip's numbers for C++
    build.py      makes the plugin, and runs mlir-opt with it
    forms.py      one operation in all its forms: xDSL, ODS and C++, IRDL

The same text is read by both: what `python -m course_lib npu --emit tile` prints, mlir-opt reads,
verifies and prints. Next room: `npu.td`.
"""
