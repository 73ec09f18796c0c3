"""DAPPLE."""
