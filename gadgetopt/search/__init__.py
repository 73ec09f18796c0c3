"""What exact and heuristic searches share.

clock   elapsed time, time left within the limits, seconds per phase
state   incumbent, dual bound with its certificate, trace
seeds   random numbers of methods that run once
groups  servers that look alike to a rule, and (`groups_by_cost`) those alike but for one addend
"""
