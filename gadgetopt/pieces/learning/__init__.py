"""What trainings of several systems share.

networks            parameters as tensors, trained with torch on one core
choice_regression   a linear score of choices, without torch
regrets             regret matching against an adversary that chooses a sequence
survival            how long what goes on will last, from what has ended
interference_model  slowdowns by who else is on a server, from samples
"""
