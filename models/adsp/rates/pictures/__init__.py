"""Pictures of rates.

- `periods`: a period of each worker, computing and committing.
- `equal_rates`: the objective against an equal rate, and its two parts.
- `surface`: the objective over window start and threshold.
- `momentum`: Theorem 1's momentum against an equal rate, in both readings.
"""

ORDER = ("periods", "equal_rates", "surface", "momentum")
