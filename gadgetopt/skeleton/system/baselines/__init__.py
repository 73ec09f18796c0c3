"""What the paper compares with (`by_value`)."""
