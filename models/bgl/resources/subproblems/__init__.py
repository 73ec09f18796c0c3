"""What several rooms solve on the way: least shares, and shadow prices (`shares`)."""
