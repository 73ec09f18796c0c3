"""Heuristics of ours, not in the paper.

- `a_srpt_weighted`: A-SRPT with a virtual machine that heeds weights.
- `a_srpt_workload`: A-SRPT with another order of the queue.
- `easy`: EASY backfilling.
- `order_search`: offline list schedules with local search.
- `order_annealing`: annealing over the order of a list schedule.
"""
