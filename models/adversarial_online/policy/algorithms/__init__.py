"""The shares of the units (1), and the paper's network.

- `share_policy`: shares of the units for levels, (1); optimal for long horizons.
- `learned`: the seller's network as a policy, trained in `data/learning`.
"""
