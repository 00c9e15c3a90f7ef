"""A graph as calls of an array library: what torch and JAX run for a model that is not their own.

    in_torch(graph)      a torch module whose forward calls torch, node by node
    in_jax(graph)        a function of arrays for `jax.jit`

library.py    a library under numpy's names; the graph in the ops that it has
shared.py     how an op is written with those names: for both
in_torch.py   what torch calls otherwise, and the ops that it has whole; in_jax.py: the same of JAX

Next room: `library.py`.
"""
