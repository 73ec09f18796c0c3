"""Heuristics of ours, not in the paper, with their loops.

`gang_levels`: gangs packed from the largest size down, by integer programs (`levels`).
`load_limits`: SJF-BCO with other searches for the load limit.
`local_search`: LPT on single servers, iterated.
`nested_blocks`: annealing of gangs on nested blocks of GPUs.
`order_annealing`: annealing of start order, placement and delay.
"""
