"""Pictures of everything that the course looks at, in one visual language.

Every function returns a `Picture`: the last line of a notebook cell draws it, `print` writes it as
plain text, `.html` and `.svg` are its source, `.save(path)` writes .svg, .html or .txt. A `Plot` is
a picture that matplotlib draws: its `.figure` and `.axes` take whatever you add.

    graph(g, marked=["%3"])                     draw.graph     a graph; `marked` nodes stand out
    before_after(g, cse(g), title="cse")        draw.graph     what a pass removed and added
    before_after(g, fuse(g), edge_bytes=True)   draw.graph     the bytes at each line, too
    changed_lines(g, dce(g), title)             draw.lines     the same as text, compared by nodes
    timeline([Span("x", 0, 2, 0, 4096)], ...)   draw.timeline  memory plans, Gantt charts, pipelines
    cells([[Cell(("2 · 3",))]], ...)            draw.cells     a systolic array at one clock
    tiles(4, 6, 4, tile=(2, 3, 2))              draw.tiles     a tile that slides over a product
    addresses((1, 3, 4, 4), "nhwc", [...])      draw.addresses index, strides, address in steps
    cache_lines({"nhwc": [120, 121]}, ...)      draw.addresses which lines of memory are read
    roofline([Dot("conv", 42, 61e9)], ...)      draw.roofline  a Plot: FLOP/s against FLOP per byte
    lines({"ours": [(64, 0.9), ...]}, ...)      draw.charts    a Plot: a line for each series
    scatter({"conv": [(6.1, 60.0)]}, ...)       draw.charts    a Plot: a mark for each point
    histogram({"one thread": times}, ...)       draw.charts    a Plot: how often which value
    bars([("conv", 6.4, 3.2)], unit, title)     draw.table     a Plot: one or two values each
    spreads([Spread("ours", 33, 32, 35)], ...)  draw.spreads   medians and their quartiles
    chart(title, x, y)                          draw.figure    a Plot: empty axes in our style
    stepper([("fold", text), ...], title)       draw.stepper   states one after the other
    ir_diff(got, expected)                      draw.diff      two texts, line by line
    table(rows, headers, best={...})            draw.table     numbers, units, the best value
    listing("loops", text)                      draw.listing   a program as text
    beside([Column("loops", lines), ...], t)    draw.beside    texts whose lines belong together
    callout("wrong", title, [text, picture])    draw.callout   verdicts, hints, predictions
    legend()                                    draw.legend    every sign with its meaning
    flow([["entry"], ...], edges, title)        draw.flow      blocks and the ways between them
    dot_source(g)                               draw.dot       for Graphviz and its editors
    page(title, fragment, ...)                  draw.picture   one HTML page from many `.html`

Fragments bring their own style, so they can stand in any page; a page of our own that wants the
colours for itself takes `style.BASE` and gives its body the class `cl`. Nothing is fetched, nothing
runs: no kernel, no widget, no JavaScript. The only room below is `ir`. matplotlib is imported when
the first plot is made; Graphviz lays out whole models where it is installed.

Next room: `base/style.py`.
"""
