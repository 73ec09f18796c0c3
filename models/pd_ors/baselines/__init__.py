"""The algorithms that the paper compares PD-ORS with.

- `oasis`: OASiS, with separate machines for workers and for servers.
- `fifo_drf`: first in, first out, and dominant resource fairness.
- `dorm`: Dorm, a MILP at every arrival and completion.
"""
