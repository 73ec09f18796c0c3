"""The theorems of online selection: promised ratios and their assumptions (`ratios`)."""
