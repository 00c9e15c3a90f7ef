"""Other engines and compilers on the same models, each behind one interface: ours is one of them.

    peer("onnxruntime").prepare("mlp", threads=1).call()     ->   [array of f32[1,10]]
    with Running("openvino", "model.onnx", inputs) as engine: a process of its own, which may crash
        engine.times(0.1)                                ->   [0.00042, 0.00041, ...]

peer.py      the table of systems, and what each of them can be asked
model.py     one model in the forms in which they take it: a graph, an ONNX file, a torch module
running.py   a system in a process of its own, on processors of its own; child.py is its other side

Every other file is one system. It is imported when its system is asked for, and needs nothing that
`pip` would have to bring before. Next room: `peer.py`.
"""
