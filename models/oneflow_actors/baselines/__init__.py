"""Slots of OneFlow's plans, and what they are compared with, under a rule of firing.

- `fixed`: one slot, two, those of OneFlow's plan, as many as can be of use.
- `improver`: the removed pass of OneFlow's compiler that chose slots by longest ways.
"""
