"""What closes gaps: `search_and_close`, rules, then all plans, or F3 where they are too many."""
