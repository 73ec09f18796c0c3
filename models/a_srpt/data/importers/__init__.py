"""Instances from traces of real clusters (`traces`), with job types of measured networks.

`templates` holds the measurements and how a job type is calibrated to them.
"""
