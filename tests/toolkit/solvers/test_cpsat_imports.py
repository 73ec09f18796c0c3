"""CP-SAT is imported without pandas, and knows its series once pandas is there."""

import subprocess
import sys


def printed(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_solve_by_cpsat_imports_no_pandas():
    code = (
        "import sys, gadgetopt\n"
        "instance = gadgetopt.read('instances/quickstart/knapsack.json')\n"
        "print(gadgetopt.solve(instance, 'direct@cpsat').status, 'pandas' in sys.modules)\n"
    )
    assert printed(code) == ["optimal", "False"]


def test_series_are_known_once_pandas_is_imported():
    code = (
        "from gadgetopt.solvers.to_cpsat.cp_model import cp_model\n"
        "import pandas as pd\n"
        "model = cp_model.CpModel()\n"
        "x = model.new_int_var_series('x', pd.Index(['a', 'b']), 0, 5)\n"
        "model.add(x['a'] + 2 * x['b'] <= 7)\n"
        "model.maximize(x.sum())\n"
        "solver = cp_model.CpSolver()\n"
        "solver.solve(model)\n"
        "print(type(x).__module__, *solver.values(x).to_list())\n"
    )
    module, *values = printed(code)
    assert module.startswith("pandas")
    assert values == ["5", "1"]
