"""What several rooms solve on the way: what a given sequence is worth to both sides (`welfare`)."""
