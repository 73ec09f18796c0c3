"""Heuristics of ours, not in the paper.

`roundings`: Algorithms 1 and 2 with other roundings, gains and ring sizes.
`gadget_greedy`: Algorithm 1 with slots solved greedily; `slot_greedy`: a slot, worker by worker.
`ring_bounds`: the largest rings that the paper reads off a relaxation.
"""
