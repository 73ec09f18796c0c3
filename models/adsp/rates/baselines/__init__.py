"""Rules of thumb: the best equal rate, rates by speed, and as often as possible (`rules`)."""
