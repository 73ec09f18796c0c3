"""The theorems on worst ratios, held against the optimal policy (`ratios`)."""
