"""Other engines and compilers on the same models. Only here are they imported.

    onnxruntime_session("model.onnx")([x])   ->   [y]

`cluster.py` is the way to other machines, with Dask.

Next room: `peers.py`.
"""
