"""Upper bounds on the offline welfare: the best prices in hindsight (`hindsight`)."""
