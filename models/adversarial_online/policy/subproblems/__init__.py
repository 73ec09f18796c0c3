"""What several rooms solve on the way.

- `chains`: the sequence on which keeping a share of OPT takes most units, in closed form.
- `trees`: sets of histories as trees, with the offline optimum of each.
- `networks`, `rounding`: the seller's network, and the table that it is rounded to.
- `exactly`: from a solver's doubles to an exact policy.
- `sizes`: up to which sizes the evaluator enumerates.
"""
