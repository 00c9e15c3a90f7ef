"""Unit 15: torch.compile."""
