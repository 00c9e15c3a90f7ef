"""MLIR's own tools at work: they run what we wrote, and their passes are looked at one by one.

    run_all([Job(to_mlir(graph), ...)])         ->  numbers, to compare with the interpreter's
    passed(text, PIPELINES["loops"])            ->  the text after every pass

Next room: `engine.py`.
"""
