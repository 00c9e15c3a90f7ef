"""What passes are made of: patterns, rules, rewriting, and the manager that runs them in order.

    run_passes(graph, [lambda graph: rewrite(graph, [rule(lambda x: -(-x), lambda x: x)]), dce])

Next room: `match.py`.
"""
