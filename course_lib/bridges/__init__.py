"""Other engines and compilers on the same models. Only here are they imported.

    onnxruntime_session("model.onnx")([x])   ->   [y]

Next room: `peers.py`.
"""
