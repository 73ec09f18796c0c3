"""How much the networks see."""

#: Inputs of the seller's and of the adversary's network. By definition.
SELLER_INPUTS, ADVERSARY_INPUTS = 2, 4
