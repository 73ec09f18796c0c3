"""The rules of the theory as policies of the game: posted prices (`posted`)."""
