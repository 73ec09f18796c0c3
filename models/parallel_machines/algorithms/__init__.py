"""The approximation algorithms of the literature, step by step.

- `graham`: list scheduling, and LPT.
- `multifit`: first-fit decreasing with bisection of the capacity.
- `differencing`: the largest differencing method.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="list_scheduling",
        kind="approximation",
        summary="each job in the order given, on the machine with the least load",
        reference="Graham 1966",
        run=part("graham:list_scheduling"),
    ),
    Method(
        name="lpt",
        kind="approximation",
        summary="list scheduling, longest job first",
        reference="Graham 1969",
        run=part("graham:lpt"),
    ),
    Method(
        name="multifit",
        kind="approximation",
        summary="bisection of the capacity into which first-fit decreasing packs the jobs",
        reference="Coffman, Garey and Johnson 1978",
        run=part("multifit:multifit"),
        parameters={"steps": 10},
    ),
    Method(
        name="differencing",
        kind="approximation",
        summary="joins the two partial schedules of the largest differences until one is left",
        reference="Karmarkar and Karp 1982",
        run=part("differencing:differencing"),
    ),
)
