"""What ADSP was compared with, and its offline variants.

- `barriers`: BSP, SSP, Fixed ADACOMM, ADACOMM.
- `offline`: ADSP+ and ADSP++, which try rates from the start before they train.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="adsp_plus",
        kind="heuristic",
        summary="ADSP+: the best equal rate, found beforehand",
        reference="Hu, Wang and Wu 2020, ablation",
        run=part("offline:adsp_plus"),
    ),
    Method(
        name="adsp_plus_plus",
        kind="heuristic",
        summary="ADSP++: the best rate, explicit momentum and global learning rate together",
        reference="Hu, Wang and Wu 2020, ablation",
        run=part("offline:adsp_plus_plus"),
    ),
    Method(
        name="bsp",
        kind="baseline",
        summary="a barrier after every step",
        reference="bulk-synchronous parallel",
        run=part("barriers:bsp"),
    ),
    Method(
        name="ssp",
        kind="baseline",
        summary="every step committed; who is too far ahead waits",
        reference="stale synchronous parallel",
        run=part("barriers:ssp"),
    ),
    Method(
        name="fixed_adacomm",
        kind="baseline",
        summary="a barrier after a fixed number of local steps",
        reference="periodic averaging",
        run=part("barriers:fixed_adacomm"),
        parameters={"local_steps": 40},
    ),
    Method(
        name="adacomm",
        kind="baseline",
        summary="a barrier after fewer local steps as the loss falls",
        reference="ADACOMM",
        run=part("barriers:adacomm"),
    ),
)
