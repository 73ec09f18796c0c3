"""What trains a seller's and an adversary's network (`training`)."""
