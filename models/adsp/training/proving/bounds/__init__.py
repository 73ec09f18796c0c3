"""The lower bound there is: updates have to arrive (`arrivals`)."""
