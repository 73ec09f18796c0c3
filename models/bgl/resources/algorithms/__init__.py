"""The paper's enumeration of all shares (`brute_force`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="brute_force",
        kind="exact",
        summary="all shares of the store, and all of worker and PCIe",
        reference="BGL, section 3.4 (recalled)",
        run=part("brute_force:brute_force"),
        formulation="enumeration",
    ),
)
