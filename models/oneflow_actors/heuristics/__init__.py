"""Heuristics of ours: slots where the critical cycle waits for one."""
