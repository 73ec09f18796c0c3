"""The shares of the units (1), and the paper's networks.

- `share_policy`: shares of the units for levels, (1); optimal for long horizons.
- `training`: a seller's and an adversary's network, trained against each other.
- `learned`: the seller's network as a policy.
"""

ORDER = ("share_policy", "learned", "training")
