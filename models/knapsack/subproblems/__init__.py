"""What methods share: results in the instance's own numbers (`outcome`)."""
