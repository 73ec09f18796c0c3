"""Options of solvers as they stand in the name of a method: `time_indexed@highs:presolve=off`.

They are part of what is asked, so of a run's label and key. Options that the toolkit sets itself
are refused, and so are those that would change what a status or a bound means.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from gadgetopt.errors import InputError

Options = dict[str, Any]

_TIME, _THREADS = "use --time-limit", "use --threads"
_SEED, _GAP, _MEMORY, _LOG = "use --seed", "use --gap", "use --memory-mb", "use --log"
_MEANING = "it would change what a bound or a status means"
_FILES = "it would write files; use `gadgetopt export` or --out"

#: Options by solver that are refused, with the reason.
REFUSED: dict[str, dict[str, str]] = {
    "highs": {
        "time_limit": _TIME,
        "threads": _THREADS,
        "parallel": _THREADS,
        "simplex_max_concurrency": _THREADS,
        "random_seed": _SEED,
        "mip_rel_gap": _GAP,
        "mip_abs_gap": _GAP,
        **dict.fromkeys(("log_file", "log_to_console", "output_flag", "mip_report_level"), _LOG),
        **dict.fromkeys(("log_dev_level", "mip_min_logging_interval", "timeless_log"), _LOG),
        **dict.fromkeys(("objective_bound", "objective_target", "solve_relaxation"), _MEANING),
        **dict.fromkeys(("user_objective_scale", "user_bound_scale", "infinite_cost"), _MEANING),
        **dict.fromkeys(("infinite_bound", "small_matrix_value"), _MEANING),
        **dict.fromkeys(("large_matrix_value", "allow_unbounded_or_infeasible"), _MEANING),
        **dict.fromkeys(("blend_multi_objectives", "allowed_matrix_scale_factor"), _MEANING),
        **dict.fromkeys(("read_solution_file", "read_basis_file"), _FILES),
        **dict.fromkeys(("solution_file", "write_basis_file", "write_model_file"), _FILES),
        **dict.fromkeys(("write_model_to_file", "write_presolved_model_file"), _FILES),
        **dict.fromkeys(("write_solution_style", "write_solution_to_file"), _FILES),
    },
    "cpsat": {
        "max_time_in_seconds": _TIME,
        "max_deterministic_time": _TIME,
        **dict.fromkeys(("num_workers", "num_search_workers"), _THREADS),
        "random_seed": _SEED,
        **dict.fromkeys(("relative_gap_limit", "absolute_gap_limit"), _GAP),
        "max_memory_in_mb": _MEMORY,
        **dict.fromkeys(("log_search_progress", "log_to_stdout", "log_to_response"), _LOG),
        **dict.fromkeys(("fix_variables_to_their_hinted_value", "only_solve_ip"), _MEANING),
        **dict.fromkeys(("catch_sigint_signal", "stop_after_presolve"), _MEANING),
    },
    "scip": {
        **dict.fromkeys(("limits/time", "limits/softtime"), _TIME),
        **dict.fromkeys(("lp/threads", "parallel/maxnthreads", "parallel/minnthreads"), _THREADS),
        **dict.fromkeys(("randomization/randomseedshift", "randomization/lpseed"), _SEED),
        **dict.fromkeys(("limits/gap", "limits/absgap"), _GAP),
        "limits/memory": _MEMORY,
        "display/verblevel": _LOG,
        **dict.fromkeys(("limits/primal", "limits/dual", "numerics/infinity"), _MEANING),
        **dict.fromkeys(("misc/catchctrlc", "limits/objectivestop"), _MEANING),
    },
    "gurobi": {
        **dict.fromkeys(("timelimit", "worklimit"), _TIME),
        "threads": _THREADS,
        "seed": _SEED,
        **dict.fromkeys(("mipgap", "mipgapabs"), _GAP),
        **dict.fromkeys(("memlimit", "softmemlimit"), _MEMORY),
        **dict.fromkeys(("outputflag", "logtoconsole", "logfile"), _LOG),
        **dict.fromkeys(("cutoff", "bestobjstop", "bestbdstop", "objscale"), _MEANING),
        "resultfile": _FILES,
    },
    "cplex": {
        **dict.fromkeys(("timelimit", "dettimelimit"), _TIME),
        "threads": _THREADS,
        "randomseed": _SEED,
        **dict.fromkeys(("mipgap", "mip_tolerances_mipgap", "mip_tolerances_absmipgap"), _GAP),
        **dict.fromkeys(("mip_tolerances_lowercutoff", "mip_tolerances_uppercutoff"), _MEANING),
    },
    "xpress": {
        **dict.fromkeys(("timelimit", "maxtime", "soltimelimit", "worklimit"), _TIME),
        "threads": _THREADS,
        "randomseed": _SEED,
        **dict.fromkeys(("mipgap", "miprelstop", "mipabsstop"), _GAP),
        **dict.fromkeys(("mipabscutoff", "miprelcutoff", "mipaddcutoff"), _MEANING),
    },
    "cbc": {
        **dict.fromkeys(("sec", "seconds", "timemode"), _TIME),
        "threads": _THREADS,
        **dict.fromkeys(("randomcbcseed", "randomseed"), _SEED),
        **dict.fromkeys(("ratio", "ratiogap", "allow", "allowablegap"), _GAP),
        **dict.fromkeys(("cutoff", "increment", "objectivescale"), _MEANING),
    },
    "glpk": {
        "tmlim": _TIME,
        "seed": _SEED,
        "mipgap": _GAP,
        "memlim": _MEMORY,
        **dict.fromkeys(("output", "write", "log", "wlp", "wmps", "wfreemps", "wglp"), _FILES),
    },
}

#: Parts of names of tolerances, which may be made tighter and not wider.
_TOLERANCES = ("tolerance", "feastol", "epsilon", "dualfeastol", "sumepsilon")


def read_options(backend: str, assignments: Iterable[str], what: str) -> Options:
    """Return the options that `key=value` assignments set, in the order of the alphabet.

    HiGHS, CP-SAT and SCIP check name and value here; the others do when they are run.

    Raises
    ------
    InputError
        If an assignment is not of that form, or an option or value is unknown or refused.
    """
    check: Callable[[str, str], Any] = _CHECKS.get(backend, lambda _, text: _plain(text))
    out: Options = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not (key and equals and text):
            raise InputError(f"{what}: {assignment!r} is not of the form option=value")
        refused = REFUSED.get(backend, {})
        # All but HiGHS, CP-SAT and SCIP take names in capitals, too.
        reason = refused.get(key) or refused.get(key.lower())
        if reason is not None:
            raise InputError(f"{what}: {key} cannot be set: {reason}")
        try:
            out[key] = check(key, text)
        except InputError as error:
            raise InputError(f"{what}: {error}") from None
    return dict(sorted(out.items()))


def _plain(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | str) else text


def _tighter(key: str, value: float, default: float) -> None:
    if any(part in key for part in _TOLERANCES) and not 0 <= value <= default:
        raise InputError(
            f"{key}: {value:g}, expected at most its default {default:g}: a wider tolerance would "
            "change what a bound or a status means"
        )


def _highs(key: str, text: str) -> Any:
    import highspy

    from gadgetopt.solvers.silent_highs import new_highs

    highs = new_highs()
    highs.setOptionValue("output_flag", False)
    if not hasattr(highspy.HighsOptions(), key):  # asked itself, HiGHS would print an error
        raise InputError(f"HiGHS has no option {key!r}")
    default = highs.getOptionValue(key)[1]
    if highs.setOptionValue(key, text) == highspy.HighsStatus.kError:
        raise InputError(f"{key}: HiGHS does not accept {text!r} (its default is {default!r})")
    value = highs.getOptionValue(key)[1]
    if isinstance(value, float):
        _tighter(key, value, default)
    return value


def _cpsat(key: str, text: str) -> Any:
    from gadgetopt.solvers.to_cpsat.cp_model import cp_model

    parameters = cp_model.CpSolver().parameters
    if key.startswith("debug_") or not hasattr(parameters, f"clear_{key}"):
        raise InputError(f"CP-SAT has no option {key!r}")
    if not set_cpsat(parameters, key, text):
        default = getattr(parameters, key)
        raise InputError(f"{key}: CP-SAT does not accept {text!r} (its default is {default!r})")
    return _plain(text)


def set_cpsat(parameters: Any, key: str, value: Any) -> bool:
    """Set a parameter of CP-SAT from its value or text; return False if it is not accepted."""
    text = value if isinstance(value, str) else json.dumps(value)
    for written in (text, json.dumps(text)):
        try:
            if parameters.merge_text_format(f"{key}: {written}"):
                return True
        except (RuntimeError, ValueError, TypeError):
            continue
    return False


def _scip(key: str, text: str) -> Any:
    try:
        import pyscipopt
    except ImportError:
        raise InputError("backend scip needs the extra `minlp`") from None
    from pyomo.common.tee import capture_output

    scip = pyscipopt.Model()
    known = scip.getParams()
    if key not in known:
        raise InputError(f"SCIP has no option {key!r}")
    default, value = known[key], _plain(text)
    if isinstance(default, float) and isinstance(value, int):
        value = float(value)
    if isinstance(default, bool):
        value = {"true": True, "on": True, "false": False, "off": False}.get(text.lower(), value)
    wrong = InputError(f"{key}: SCIP does not accept {text!r} (its default is {default!r})")
    if type(value) is not type(default) and not isinstance(default, str):
        raise wrong
    try:
        with capture_output(capture_fd=True):  # SCIP prints errors itself
            scip.setParam(key, text if isinstance(default, str) else value)
    except (ValueError, KeyError, TypeError):
        raise wrong from None
    if isinstance(default, float):
        _tighter(key, value, default)
    return text if isinstance(default, str) else value


_CHECKS: dict[str, Callable[[str, str], Any]] = {"highs": _highs, "cpsat": _cpsat, "scip": _scip}
