"""The theorems: promised ratios and their assumptions (`ratios`)."""
