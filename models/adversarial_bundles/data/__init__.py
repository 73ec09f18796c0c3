"""Instances drawn (`generate`), and the training of networks (`learning`)."""
