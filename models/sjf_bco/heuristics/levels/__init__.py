"""Gangs packed level by level: integer programs of large gangs, linear ones of small gangs.

`shape`: how long a gang runs on the servers of a class, and rooms that are left on GPUs.
`patterns`: the linear program of what single GPUs can run in their rooms.
`stage`: the integer program of some levels, with cuts from the linear program below them.
`packing`: the stages one after the other, and the schedule they make.
"""
