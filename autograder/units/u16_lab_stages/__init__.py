"""Lab beside unit 16: an operation in four compilers, a search's decisions, C without a system."""
