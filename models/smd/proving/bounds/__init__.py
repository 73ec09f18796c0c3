"""Upper bounds on the total utility, all without integer programming.

- `prices`: Lagrangian bound and sum of utilities, certified by prices; the continuous relaxation.
"""
