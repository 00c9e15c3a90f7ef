"""What the notebook of unit 15 shows (torch.compile): programs, tables, recordings."""
