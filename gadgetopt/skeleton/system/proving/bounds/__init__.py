"""Upper bounds on the value, each with a certificate (`price`)."""
