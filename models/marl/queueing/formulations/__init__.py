"""The models on paper.

- `time_slotted`: F3, contents of servers in every slot, and its linear relaxation.
- `ring_slots`: F3r, F3 with rings inside servers and levels of a network.
"""
