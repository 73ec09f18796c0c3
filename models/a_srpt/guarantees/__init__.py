"""The theorems, all reconstructed but for the statement of Lemma 1.

- `ratios`: promised ratios of A-SRPT and of the schedule of Lemma 1.
- `guide`: the virtual machine of a run again, and what Lemmas 2 and 3 say of it.
"""
