"""What ADSP was compared with, and its offline variants.

- `barriers`: BSP, SSP, Fixed ADACOMM, ADACOMM.
- `offline`: ADSP+ and ADSP++, which try rates from the start before they train.
"""

ORDER = ("offline", "barriers")
