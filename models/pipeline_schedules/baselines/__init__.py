"""Published schedules, step by step; times count only in `automatic` and `waves`.

- `one_f_one_b`: GPipe and 1F1B
- `interleaved`: interleaved 1F1B and ZB1P, over chunks in a loop
- `zero_bubble`: ZB-H1 and ZB-H2
- `zbv`: ZBV, two chunks in a V; `building_blocks`: V-Min and V-Half, with less memory
- `dual_pipe`: DualPipe over two directions, DualPipeV over a V
- `waves`: Chimera and Hanayo
- `automatic`: `zb_auto` and `zbv_greedy`, built for the times at hand
- `layout`, `outcome`, `list_schedule`: what they share
"""
