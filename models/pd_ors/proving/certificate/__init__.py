"""Checks of certificates: prices prove upper bounds on the total utility, in exact numbers.

- `check`: prices of every resource, machine and slot.
- `least_costs`, `payoff_bounds`: what a job's schedules cost at least, and earn at most.
- `price_tree`: a search's proof, with prices at each of its leaves.
- `slot_refutation`: jobs that do not fit one slot, by exhaustion.
"""
