"""Models, certified bounds and the papers' own algorithms for distributed deep learning."""

__version__ = "0.1.0"
