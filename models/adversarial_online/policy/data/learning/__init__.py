"""The training of the policy that `learned` uses.

- `training`: a seller's and an adversary's network, trained against each other.
"""
