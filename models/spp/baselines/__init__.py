"""What SPP was compared with; plans and orders are ours where the paper is silent.

- `straight`: data parallelism, GPipe and HetPipe.
- `planners`: PipeDream and DAPPLE.
- `schedules`: orders of stages, with channels first come, first served.
"""

ORDER = ("straight", "planners")
