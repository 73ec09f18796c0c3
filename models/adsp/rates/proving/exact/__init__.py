"""Exact methods: the sweep and the labels that `exact_rates` chooses from, outer approximation.

- `sweep`: thresholds from large to small, window by window.
- `exact_rates`: the sweep with its certificate; under the momentum cap, labels.
- `outer_approximation`: the one-hot model with ever more tangents.
"""
