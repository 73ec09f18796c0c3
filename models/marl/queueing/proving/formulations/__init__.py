"""Models of ours.

- `ring_slots`: F3r, F3 with rings inside servers and levels of a network.
"""
