"""Heuristics of ours, not in the paper.

`greedy_jct`: a rule that looks at the completion times of all placed jobs.
`patient`: the same, but jobs wait for a good place.
`order_search`: the best of all rules, and jobs that change places.
"""
