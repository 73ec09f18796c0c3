"""Heuristics of ours: list schedules by rules (`list_schedule`), and the best of many (`rules`)."""
