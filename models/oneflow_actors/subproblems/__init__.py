"""What rooms share: slots under a rule as a decision."""
