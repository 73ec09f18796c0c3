"""Pictures, one per file.

gantt: the GPUs over time, with spread jobs marked.
"""
