"""What the text of a notebook's cells says: which answers it holds, and what they need."""
