"""Where each value of a program lives, when its step runs, and what may share its bytes.

liveness.py   from when to when a value is needed     order.py      a better order of the steps
offsets.py    at which address it lives               in_place.py   a result over an operand
planners.py   other ways to choose addresses          plan.py       all of it: the memory plan
"""
