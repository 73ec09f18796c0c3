"""The adversary's program, which ends with a lottery (`adversary_program`)."""
