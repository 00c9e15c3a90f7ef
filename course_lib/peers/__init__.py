"""Other engines and compilers on the same models, each behind one interface: ours is one of them.

    peer("onnxruntime").prepare("mlp", threads=1).call()     ->   [array of f32[1,10]]
    with Running("openvino", "model.onnx", inputs) as engine: a process of its own, which may crash
        engine.times(0.1)                                ->   [0.00042, 0.00041, ...]

peer.py      the table of systems, and what each of them can be asked
model.py     one model in the forms in which they take it: a graph, an ONNX file, a torch module
running.py   a system in a process of its own, on processors of its own; child.py is its other side
around.py    the machine on which it was measured, and what else it did
witness.py   what is right, in float64; agree.py says how far a result is from it
contest.py   systems in turns; report.py says what was found, as text, as data and as a page
tvm_log.py   the schedules with which TVM is tuned; tvm_search.py searches them,
             and makers.py makes the log again

Every other file is one system. It is imported when its system is asked for, and needs nothing that
`pip` would have to bring before.

None of them may tell anybody that it is used: `openvino.py` and `mnn.py` say what is left out for
that. Next room: `peer.py`.
"""
