"""Which iterations there are, what each of them touches, and which two must stay in order.

points.py       is there a point of whole numbers that satisfies some conditions?
domains.py      the iterations of a statement, and the elements that it touches
dependences.py  two iterations that touch the same element, one of them writing it
"""
