"""What several rooms solve on the way.

- `chains`: the sequence on which keeping a share of OPT takes most units, in closed form.
- `trees`: sets of histories as trees, with the offline optimum of each.
- `master`: the linear program (2) on a growing set of histories.
- `seller`: policies for all histories and their worst sequences.
- `worst_program`, `seller_program`: best responses of both players by HiGHS.
- `exactly`: from a solver's doubles to an exact policy.
- `sizes`: up to which sizes the evaluator enumerates.
"""
