"""What several rooms solve on the way.

- `terms`: what contents of servers cost, as arrays.
- `content_search`: contents of a server that are worth more than a price: knapsacks with pairwise
  profits.
- `layout`: contents put on servers.
- `moves`, `sharing`: tasks that move or change places, jobs that are placed anew, servers that
  share their tasks in the best way.
"""
