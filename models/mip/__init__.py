"""Any mixed-integer linear program, in exact numbers: from MPS, LP and .nl files, or from Pyomo.

The literature:

- `instance`, `evaluate`, `features`
- `formulations`: the model itself
- `baselines`: rounding, the feasibility pump, relaxation induced neighbourhood search
- `subproblems`: points made exact

Ours:

- `proving`: the default method, which chooses a solver by what the rows are
- `data`: generators, and importers of model files
- `pictures`: the matrix as a solution uses it
"""

from gadgetopt.system.declaration import Citation, Problem, Reference

PROBLEM = Problem(
    package=__name__,
    name="mip",
    title="Any mixed-integer linear program",
    citation=Citation(
        authors="K. K. H. Cheung, A. Gleixner, D. E. Steffy",
        title="Verifying Integer Programming Results",
        venue="IPCO 2017, LNCS 10328, 148-160",
        year=2017,
        doi="10.1007/978-3-319-59250-3_13",
    ),
    sense=Reference(__name__, "instance:sense_of"),
    objective="objective",
    default_method="suited_solver",
    default_methods=("feasibility_pump", "model@highs", "model@cpsat"),
)
