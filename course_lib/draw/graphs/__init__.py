"""Pictures of graphs: layout, boxes, before and after, and the stages of a compilation."""
