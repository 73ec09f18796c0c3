"""Exact methods: parametric search (`parametric`), and the paper's enumeration (`brute_force`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="parametric",
        kind="exact",
        summary="least shares for a time, and bisection over the times that can be optimal",
        reference="this project",
        run=part("parametric:parametric"),
        formulation="parametric",
    ),
    Method(
        name="brute_force",
        kind="exact",
        summary="all shares of the store, and all of worker and PCIe",
        reference="BGL, section 3.4 (recalled)",
        run=part("brute_force:brute_force"),
        formulation="enumeration",
    ),
)
