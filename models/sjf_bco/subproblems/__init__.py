"""Subproblems and data structures that several rooms share.

placement: sequential placement under a load limit; pools: the GPU selection rules.
contention: event-driven simulation of a cluster; greedy: quick feasible schedules.
symmetry: identical jobs and equal servers.
"""
