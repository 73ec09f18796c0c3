"""What several rooms share: the shops of copies of a pipeline."""
