"""Certificates of lower bounds, and their checks.

`check`: the certificate, and the bound that it proves.
`prices`: prices of jobs and servers.
`closing`: a tree over the contents that prices leave.
"""
