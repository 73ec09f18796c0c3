"""The offline optimum, by what suits the instance (`offline`)."""
