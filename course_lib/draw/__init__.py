"""Pictures of everything that the course looks at, in one visual language.

Every function returns a `Picture`: the last line of a notebook cell draws it, `print` writes it as
plain text, `.html` and `.svg` are its source, `.save(path)` writes .svg, .html or .txt.

    graph(g, marked=["%3"])                     draw.graph     a graph; `marked` nodes stand out
    before_after(g, cse(g), title="cse")        draw.graph     what a pass removed and added
    timeline([Span("x", 0, 2, 0, 4096)], ...)   draw.timeline  memory plans, Gantt charts, pipelines
    cells([[Cell(("2 · 3",))]], ...)            draw.cells     a systolic array at one clock
    roofline([Dot("conv", 42, 61e9)], ...)      draw.roofline  FLOP/s against FLOP per byte
    stepper([("fold", text), ...], title)       draw.stepper   states one after the other
    ir_diff(got, expected)                      draw.diff      two texts, line by line
    table(rows, headers, best={...})            draw.table     numbers, units, the best value
    bars([("conv", 6.4, 3.2)], unit, title)     draw.table     one or two values for each name
    cells([[Cell(("2 · 3", "Σ 6"))]], title)    draw.cells     a grid: a systolic array at one clock
    listing("loops", text)                      draw.listing   a program as text
    callout("wrong", title, [text, picture])    draw.callout   verdicts, hints, predictions
    legend()                                    draw.legend    every sign with its meaning
    dot_source(g)                               draw.dot       for Graphviz and its editors
    page(title, fragment, ...)                  draw.picture   one HTML page from many `.html`

Fragments bring their own style, so they can stand in any page; a page of our own that wants the
colours for itself takes `style.BASE` and gives its body the class `cl`. Nothing is fetched, nothing
runs: no kernel, no widget, no JavaScript. The only room below is `ir`.

Next room: `base/style.py`.
"""
