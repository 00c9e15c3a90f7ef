"""What the notebook of the lab shows: programs, the chip's memory, a divided module in short."""
