"""Heuristics of ours, not in the paper.

`greedy_jct`: a rule that looks at the completion times of all placed jobs.
`local_search`: tasks move and swap, jobs are placed anew.
`lns`: large-neighbourhood search; a few servers share their tasks in the best way.
`learned_variants`: the learned scheduler with one step changed.
`moves`, `sharing`: what both searches do.
"""
