"""Verified lower bounds on the makespan.

`combinatorial`: the bounds as methods; `class_bound`: the class bound as an ILP, and its LP.
`gpu_bin_lp`: a configuration LP over what one GPU can run, by column generation.
`instants`: what the cluster can run in one slot, as a linear program, with prices as its proof.
`mode_lp`: the same with modes, servers and level, whose prices prune the priced search.
`outcome`: the method outcome of a verified bound.
"""
