"""What is proven, and what the estimate does not promise (`ratios`)."""
