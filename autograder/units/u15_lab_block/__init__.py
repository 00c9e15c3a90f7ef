"""Lab beside unit 15: what Inductor wrote for a transformer block, annotated and measured."""
