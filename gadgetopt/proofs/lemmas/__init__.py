"""Lemmas of tree proofs: rows with a short tree of their own, which later trees may cite.

gomory          Gomory's mixed-integer cuts of the root; what a lemma is
products        rows of the products of two choices
reduced_costs   the root's duals, so that columns are fixed at their reduced costs
"""
