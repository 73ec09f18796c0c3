"""The theorems: claimed and proven ratios with their assumptions (`ratios`)."""
