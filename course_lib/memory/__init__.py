"""Where each value of a program lives, when its step runs, and what may share its bytes.

plan.py   lives and addresses     order.py      a better order of the steps
planners.py   other planners      in_place.py   a result that takes over an operand
"""
