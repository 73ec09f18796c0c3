"""Exact methods.

- `methods`: column generation and core, enumeration by the number of items, dynamic programming.
- `proof`: certificates of what a search proved.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "cg_core",
        kind="exact",
        summary="linear program by column generation, then the core that reduced costs leave",
        reference="core of small reduced costs",
        run=part("methods:cg_core"),
        parameters={"core_solver": "auto", "sharpening": "auto"},
        choices={
            "core_solver": ("auto", "enumeration", "mip"),
            "sharpening": ("auto", "search", "mip"),
        },
        formulation="enumeration",
    ),
    Method(
        "enumeration",
        kind="exact",
        summary="all choices that exact bounds leave, by the number of items",
        reference="enumeration by cardinality",
        run=part("methods:enumeration"),
        parameters={"by_count": True},
        formulation="enumeration",
    ),
    Method(
        "dynamic_program",
        kind="exact",
        summary="dynamic program for items whose weights are multiples of one vector",
        reference="collinear case",
        run=part("methods:dynamic_program"),
        formulation="dynamic_program",
    ),
)
