"""The theorems: promised ratios, and the bounds of a plan's schedule (`ratios`)."""
