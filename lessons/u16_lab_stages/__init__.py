"""What the notebook of the lab of unit 16 shows. Next room: dumps.py."""
