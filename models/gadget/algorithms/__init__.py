"""The paper's algorithm.

`plain`: Algorithms 1 and 2 step by step, as printed.
`gadget`: the method; `temporal_greedy`: Algorithm 1, for any solver of a slot.
`lp_rs_mde`: Algorithm 2; `mapping_rounding`: its rounding, as printed and within capacities;
`overload_factors`: the factors by which Theorem 8 lets it exceed capacities.
"""
