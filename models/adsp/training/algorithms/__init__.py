"""ADSP: equal commit rates without waiting, the rate found while training (`online`).

The paper's algorithm step by step is in `plain`.
"""
