"""Heuristics of ours: list schedules (`list_schedule`, `rules`), and local search (`annealing`)."""
