"""Certificates of lower bounds, and their checks.

`check`: the certificate, and the bound that it proves.
`exhaustion`: all plans are gone through, slot by slot; `slot_fillings`: what one slot can hold.
"""
