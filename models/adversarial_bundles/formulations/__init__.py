"""The models on paper.

- `sequence_form`: the game, exact, and with prices posted before the value is seen.
- `divisible`: with bundles of which a part may be sold; a relaxation.
"""
