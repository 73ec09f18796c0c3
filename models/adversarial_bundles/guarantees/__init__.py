"""Ratios that the theory promises (`ratios`)."""
