"""GADGET."""
