"""Pictures of choices: the weight of every item (`items`)."""
