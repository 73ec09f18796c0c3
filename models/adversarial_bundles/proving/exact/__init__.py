"""The double oracle (`minimax`) and its program (`master`)."""
