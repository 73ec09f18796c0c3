"""What closes gaps: a dynamic program for fixed ratios, Dinkelbach's iteration, a closed form.

- `closed_form`: for one non-decreasing table of one resource and long horizons.
- `dynamic_program`: exact in integers, with a potential as certificate.
- `dinkelbach`: the same iteration over the integer program (3), by HiGHS or by CP-SAT.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="closed_form",
        kind="exact",
        summary="cheapest sales to every state, then k requests just below the next price",
        reference="standard theory, reconstructed",
        run=part("closed_form:closed_form"),
        formulation="closed_form",
    ),
    Method(
        name="dynamic_program",
        kind="exact",
        summary="dynamic program over units sold and units an offline seller has taken, Dinkelbach",
        reference="this project",
        run=part("dynamic_program:dynamic_program"),
        formulation="dynamic_program",
    ),
    Method(
        name="dinkelbach_highs",
        kind="exact",
        summary="integer program (3) under Dinkelbach, by HiGHS",
        reference="(3), reconstructed",
        run=part("dinkelbach:dinkelbach_highs"),
        formulation="posted_prices",
        backend="highs",
    ),
    Method(
        name="dinkelbach_cpsat",
        kind="exact",
        summary="constraint program of (3) under Dinkelbach, by CP-SAT",
        reference="(3), reconstructed",
        run=part("dinkelbach:dinkelbach_cpsat"),
        formulation="posted_prices_cp",
        backend="cpsat",
    ),
    Method(
        name="dinkelbach_resources",
        kind="exact",
        summary="integer program of several resources under Dinkelbach, by HiGHS",
        reference="section 5.3 of the notes, reconstructed",
        run=part("dinkelbach:dinkelbach_resources"),
        formulation="resources",
        backend="highs",
    ),
)
