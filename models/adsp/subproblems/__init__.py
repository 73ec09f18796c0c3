"""What both problems of the family share: the workers (`workers`)."""
