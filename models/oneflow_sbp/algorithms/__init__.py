"""What OneFlow does, after its released source.

- `inference`: the compiler's pass that gives every operator the signature nearest to its inputs'.
- `auto_parallel`: the search over all signatures; `reduction` simplifies its graph, and
  `neighbourhood` improves what is left.
"""
