"""Statements of the papers, read in public sources without their text, checked (`checks`)."""
