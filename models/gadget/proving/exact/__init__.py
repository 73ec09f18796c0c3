"""Optima: of a slot, and offline over all slots.

`slot_solver`: one slot; `slot_by_slot`: Algorithm 1 with slots solved by it.

`offline`: the method, which combines the others with the epoch relaxation, `epoch_form`.
`construction`: a greedy schedule of given totals; `ring_exchange`: its local search.
`epoch_cuts`: Benders cuts and no-goods of the relaxation; `cp_totals`: CP-SAT test of totals.
`count_relaxation`, `epoch_packing`: the relaxation by ring counts, schedules of its worker-slots.
`epoch_bound`, `tree_bound`: certificates of the bound from prices, or a tree over a model.
`horizon_search`: search of a model of all slots, from an incumbent and below a bound.
"""
