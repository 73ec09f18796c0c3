"""Theorems: where ZB-H1 is optimal (`ratios`)."""
