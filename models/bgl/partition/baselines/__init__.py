"""What BGL was compared with: partitions without a guarantee.

- `simple`: random and hashed.
- `streaming`: LDG and Fennel.
- `metis`: recursive spectral bisection with refinement, and METIS itself.
- `pagraph`: PaGraph's greedy over training nodes.
"""
