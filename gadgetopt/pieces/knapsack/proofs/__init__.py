"""Proofs that no choice brings more than a bound.

- `exhaustion`: the check, in whole numbers, which goes through all choices that prices leave
- `prices`: prices with which it soon comes to an end, from the compiled search
"""
