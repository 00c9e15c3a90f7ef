"""ONNX files in and out, and surgery on them; `rules/` translate each op type.

    Relu(%x)   ->   relu(%x)   ->   Relu(%x)

Next room: `file.py`.
"""
