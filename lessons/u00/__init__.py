"""What the notebook of unit 0 shows (the tour): the trace of one line through four forms."""
