"""What rooms share.

- `tree`: histories that some sequences pass through, with stocks and optima
- `sellers`: a seller's rule written out for all histories
- `networks`: what the networks see, and the seller of one
- `rounding`: from a solver's doubles to a seller that holds exactly
"""
