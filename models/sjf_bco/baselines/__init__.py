"""Baselines of the paper: first fit (FF), list scheduling (LS), random placement (RAND)."""
