"""Other engines and compilers on the same models. Only here are they imported."""
