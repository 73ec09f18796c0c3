"""What SPP was compared with; plans and orders are ours where the paper is silent.

- `straight`: data parallelism, GPipe and HetPipe.
- `planners`: PipeDream and DAPPLE.
- `even_splits`: what torchtitan, Megatron and DeepSpeed do without a planner.
- `schedules`: orders of stages, with channels first come, first served.
"""
