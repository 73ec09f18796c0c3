"""The paper's networks (`learned`), as far as its abstract tells."""
