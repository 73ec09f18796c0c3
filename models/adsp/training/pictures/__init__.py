"""Pictures of training.

- `timeline`: what each worker does.
- `losses`: loss curves of the policies.
- `time_to_target`: seconds to the target against the rate.
- `shares`: computing, communicating and waiting by policy.
"""

ORDER = ("timeline", "losses", "time_to_target", "shares")
