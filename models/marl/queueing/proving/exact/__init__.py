"""What closes gaps: `search_and_close`, rules, then all plans, or F3 where they are too many.

`plan_search`: all plans, gone through; `slot_ways`: the ways to run jobs in a slot.
"""
