"""What several rooms solve on the way.

- `moves`: tasks that move or change places, jobs that are placed anew, two servers that share
  their tasks in the best way.
"""
