"""What proves that no plan has a shorter schedule, and its check.

It shares no function with the searches for plans (`all_plans`) and orders (`exact_orders`).

- `every_plan`: the check
- `plans`: all plans, stage by stage, below a number of seconds
- `steps`: what one more stage makes of a partial plan
- `layers`: partial plans without continuation, found layer by layer, where they are many
- `devices`: the GPUs that each stage can have, up to GPUs that are alike
- `ticks`: times in whole ticks, rounded down, and what a rest of a plan costs at least
- `orders`: the orders of one plan, and proofs that none of them is shorter
- `plan_loops`, `order_loops`, `sequence_loops`: loops, compiled where they are long
"""
