"""Formats of what executes plans of pipelines: written, and read by strict readers of our own.

plans       the files of a plan for each of them, and what they say read back
stage_orders  orders of stages; transfers go as they come
torch_csv   PyTorch's schedules: what every rank executes, in order
grids       stages times replicas, and the rank file: which GPU a rank is
megatron    the layout that gives decoder layers to Megatron's stages
torchtitan  the lines of a configuration
even_splits  the cuts that these make without a plan
deepspeed   a module whose stages begin where a plan says
"""
