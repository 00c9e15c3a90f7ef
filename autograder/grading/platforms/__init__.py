"""Other people's graders and learning platforms: what each of them takes, and what each is told."""
