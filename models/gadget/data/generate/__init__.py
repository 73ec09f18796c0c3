"""Random instances.

`presets`: the presets, from the paper's experiments to tiny instances.
`random_jobs`: the random jobs, arrivals and clusters that they draw.
"""
