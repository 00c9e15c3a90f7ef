"""Pictures of graphs: layout, boxes, before and after, and the stages of a compilation.

    graph(g)  ->  scene  ->  layout  ->  boxes and lines

Next room: `graph.py`.
"""
