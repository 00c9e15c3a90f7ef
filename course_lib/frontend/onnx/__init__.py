"""ONNX files in and out, and surgery on them. `rules/` translate each op type."""
