"""Subproblems and data structures that several rooms share.

`placement`: sequential placement under a load limit; `pools`: the GPU selection rules.
`contention`: event-driven simulation of a cluster; `greedy`: quick feasible schedules.
`symmetry`: identical jobs and equal servers.
blocks: gangs on nested blocks of GPUs; block_annealing: the moves between them;
block_loops: its loops.
`placements`: all placements of each gang; order_loops: annealing of order, placement and delay.
mode_prices: what jobs are worth at prices of modes, slot by slot.
chronological: the search in order of time, pruned by prices; chronological_loops: its loops.
"""
