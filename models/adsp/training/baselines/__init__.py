"""What ADSP was compared with, and its offline variants.

- `offline`: ADSP+ and ADSP++, which try rates from the start before they train.
- `barriers`: BSP, SSP, Fixed ADACOMM, ADACOMM.
"""
