"""Upper bounds on one slot.

`slot_bounds`: the bounds as methods, from weakest to strongest.
`config_lp`: the configuration linear program, by column generation; `tree_pricing`: its columns.
"""
