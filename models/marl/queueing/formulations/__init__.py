"""The model on paper.

- `time_slotted`: F3, contents of servers in every slot, and its linear relaxation.
"""
