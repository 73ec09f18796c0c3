"""Importers of real data.

`traces`: cluster traces of Philly and of the Muri simulator.
"""
