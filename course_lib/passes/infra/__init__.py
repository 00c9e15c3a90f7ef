"""What passes are made of: patterns, rules, rewriting, and the manager that runs them in order."""
