"""What the lab of unit 15 shows: what Inductor wrote, what eager mode runs, and both measured."""
