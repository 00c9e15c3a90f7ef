"""Visible checks of unit 2, Rewrites.

A pass is judged by three things: the result means the same, bit for bit where the specification
says so; the work is done (operations counted); what must stay is still there. The passes are
checked in dead.py, folding.py, cse.py, match.py, simplify.py, strength.py and fixpoint.py; the
exercises that are programs, numbers and evidence in evidence.py.
"""
