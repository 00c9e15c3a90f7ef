"""What a run looked like, and where its clocks and its energy went.

    write_trace(trace_of(run), "t.json")     # opens in ui.perfetto.dev
    gantt(run); counters(run); waterfall(run); by_origin(run)

Next room: `counters.py`.
"""
