"""What the lab of unit 7 shows (a product in C++): counted and timed, and a recording."""
