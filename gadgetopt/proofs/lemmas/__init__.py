"""What is proved before a tree: rows and bounds with a short tree of their own, for later trees.

splits           lemmas that a split and two leaves prove; what a lemma is
gomory           Gomory's mixed-integer cuts of the root
mixed_rounding   complemented mixed-integer rounding cuts of sums of rows
products         rows of the products of two choices
reduced_costs    the root's duals, so that columns are fixed at their reduced costs
implied_bounds   bounds of columns that have none, from single rows
work             how much a search has done, counted, so that its steps end the same in every run
"""
