"""What a check of a certificate rests on: no solver, no search for the proof, and lines as told.

`python benchmarks/trusted_lines.py --write` brings the rows of the pages up to date.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

from gadgetopt.system.references import module_of
from gadgetopt.system.registry import problem, problem_names

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("lines", ROOT / "benchmarks/trusted_lines.py")
lines = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lines)

SYSTEMS = [p.name for p in lines.checked()]
SOLVERS = {"highspy", "ortools", "pyomo", "pyscipopt", "scipy.optimize"}
#: Pieces and parts of the toolkit that a check may use: each is a check itself, or states what an
#: instance says.
TRUSTED = {
    "gadgetopt.pieces.graphs.cheapest_trees",  # shares no code with the search for trees
    "gadgetopt.pieces.graphs.undirected_costs",
    "gadgetopt.pieces.graphs.flows",  # any flow with an equal cut is proved by it
    "gadgetopt.pieces.knapsack.bins",  # of an instance: whether the blocks of a job fit, and how
    "gadgetopt.pieces.knapsack.proofs.exhaustion",
    "gadgetopt.pieces.pipeline.cluster",
    "gadgetopt.pieces.pipeline.instance",
    "gadgetopt.pieces.pipeline.plan",  # of solutions; no check calls it
    "gadgetopt.pieces.pipeline.all_plans.proofs.devices",
    "gadgetopt.pieces.pipeline.all_plans.proofs.every_plan",
    "gadgetopt.pieces.pipeline.all_plans.proofs.layers",
    "gadgetopt.pieces.pipeline.all_plans.proofs.order_loops",
    "gadgetopt.pieces.pipeline.all_plans.proofs.orders",
    "gadgetopt.pieces.pipeline.all_plans.proofs.plan_loops",
    "gadgetopt.pieces.pipeline.all_plans.proofs.plans",
    "gadgetopt.pieces.pipeline.all_plans.proofs.sequence_loops",
    "gadgetopt.pieces.pipeline.all_plans.proofs.steps",
    "gadgetopt.pieces.pipeline.all_plans.proofs.ticks",
    "gadgetopt.pieces.preemption",  # a relaxation, solved by its rule
    "gadgetopt.pieces.server_boards",  # what an instance says of its servers
    "gadgetopt.pieces.utility",
    "gadgetopt.proofs.files",
    "gadgetopt.proofs.model",
    "gadgetopt.proofs.tree_kernel",
}
#: Rooms below the paper's line, and of the paper, that a check has no business in.
SEARCHES = {"algorithms", "baselines", "bounds", "data", "exact", "formulations", "heuristics"}
#: Parts of checks that still lie elsewhere, by file: they state what an instance says, or bound
#: what is left of it.
PARTS = {
    "adversarial_bundles": {"tree"},  # histories with the stocks and optima that an instance says
    "adversarial_online_policy": {"offline", "prices", "responses"},
    "adversarial_online_run": {"offline", "prices", "whole"},
    "adversarial_online_sequence": {"automaton", "offline", "prices"},
    "adsp_rates": {"workers"},
    "adsp_training": {"workers"},
    "marl_placement": {"architecture", "cluster", "contents"},
    "marl_queueing": {"architecture", "cluster"},
}  # fmt: skip

#: What a search may call of its check: the check of a candidate, or of a part of one, by which it
#: learns what that would prove; and what an instance says, in the numbers of the check.
CANDIDATES = {
    "a_srpt": {"none_cheaper", "proved"},
    "adsp_rates": {"multiplier_bound"},
    "adversarial_online_policy": {"total_optimum"},
    "bgl_partition": {"leaf_bound", "most_together"},
    "dapple": {"proved_of_copies_s", "unproved"},
    "knapsack": {"exhaustion_bound", "surrogate_bound"},
    "marl_placement": {"alone_bound", "certificate_of", "most_together"},
    "marl_queueing": {"alone_bound", "srpt_bound"},
    "pd_ors": {"certificate_of", "is_refuted", "least_costs"},
    "sjf_bco": {"most_tables", "refutes"},
}
TABLES = {
    "a_srpt": {"blocks", "gpu_ticks_used"},
    "adsp_rates": {"least_terms", "suffix_sums", "whole_window", "window_starts"},
    "adversarial_online_sequence": {"automaton_of"},
    "bgl_cache": {
        "best_static",
        "is_plain",
        "is_plain_but_for_host",
        "miss_cost",
        "num_ways",  # whether there are more ways to hold nodes than are looked at
    },
    "bgl_partition": {"doubled_slack", "kept_by_pairs", "pair", "weights_in_units", "weights_of"},
    "gadget": {"epochs_of", "tightened"},
    "knapsack": {"options"},
    "marl_placement": {"closing", "prices_of"},
    "marl_queueing": {"mean_completion_s", "slots_alone"},
    "parallel_machines": {"dual_feasible_values"},
    "pipeline_schedules": {"ticks_of"},
    "sjf_bco": {"gpu_bins", "iterations_per_slot", "price_tables", "refuse_many_values"},
    "smd": {"options_above"},
}

#: Functions of a system outside of its check that the check calls. They are part of the problem's
#: statement above the line, or evaluate what a certificate names; no proof is found by them.
STATED = {
    "a_srpt": {
        "fastest_mapping",  # the durations of an instance are defined by it
        "pool_of",  # the instance without its servers
        "busy_time_bound", "release_bound", "srpt_bound",  # formulas that a certificate names
        "fraction_sum", "lattice_ceiling", "whole_sum",  # exact sums, and multiples of the weights
    },
    "adsp_training": {"converges_before"},  # the evaluator's own simulation of a training
    # What an order asks of the caches of several GPUs, as the problem says.
    "bgl_cache": {
        "asked",
        "cache_of_each",
        "cost_of_peers",
        "peers_of_each",
        "pool_of",  # shared caches as one
        "steps_of",
    },
    "adversarial_online_policy": {
        "best_response",  # called by the check alone; the searches share its tree of histories
        "largest",  # OPT, of the evaluator
    },
    "adversarial_online_sequence": {"automaton"},  # states of the posted prices
    "marl_placement": {"forced_comm_s", "lots_of"},  # the slowdowns of an instance; jobs alike
    "pipeline_schedules": {
        "shop_of",  # the instance in ticks
        "is_refuted",  # (B7), of the length that a certificate names; the methods try lengths
        # (B1) to (B6): a certificate names a formula and where; the methods ask for the largest.
        "chain_bound", "load_bound", "machine_bound", "rounds_bound", "warm_up_bound",
        "windows_bound",
    },
    "sjf_bco": {"refuse_many"},  # a limit of sizes
}  # fmt: skip


@cache
def trees_of(name):
    """Return the modules of a system, as syntax trees, and the package of its check."""
    module = module_of(problem(name).check_bound)
    package = module.rpartition(".proving")[0] or module.rpartition(".")[0]
    folder = ROOT / "models" / Path(*package.removeprefix("gadgetopt.models.").split("."))
    modules = {}
    for path in sorted(folder.rglob("*.py")):
        inside = ".".join(path.relative_to(folder).with_suffix("").parts)
        modules[f"{package}.{inside}"] = ast.parse(path.read_text(encoding="utf-8"))
    if "." in package.removeprefix("gadgetopt.models."):  # what the problems of a family share
        shared = package.rpartition(".")[0] + ".subproblems"
        for path in sorted((folder.parent / "subproblems").glob("*.py")):
            modules[f"{shared}.{path.stem}"] = ast.parse(path.read_text(encoding="utf-8"))
    return modules, f"{package}.proving.certificate"


def imported_names(module, tree):
    """Yield the module and the name of all that a module imports by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = module.rpartition(".")[0]
            source = importlib.util.resolve_name("." * node.level + (node.module or ""), base)
            yield from ((source, alias.name) for alias in node.names)


def definitions(tree, kind):
    return {x.name: x for x in tree.body if isinstance(x, kind)} if tree else {}


def of_its_check(name, kind):
    """Yield definitions of a system's check that other modules of the system import."""
    modules, checks = trees_of(name)
    for module, tree in modules.items():
        if module.startswith(checks) or module.endswith("__init__"):
            continue
        for source, imported in imported_names(module, tree):
            if source.startswith(checks):
                found = definitions(modules.get(source), kind).get(imported)
                yield from [found] if found else []


@cache
def functions_of_its_check(name):
    """Return the functions of a system's check that other modules of the system import."""
    return {function.name for function in of_its_check(name, ast.FunctionDef)}


def test_systems_are_found():
    assert len(SYSTEMS) >= 21
    assert [name for name in problem_names() if problem(name).check_bound is not None] == SYSTEMS


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_check_reaches_a_solver(name):
    for module in lines.reached(module_of(problem(name).check_bound)):
        assert not module.startswith("gadgetopt.solvers"), module
        tree = ast.parse(lines.path_of(module).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [f"{node.module}", *(f"{node.module}.{a.name}" for a in node.names)]
            used = {n for n in names if any(f"{n}.".startswith(f"{s}.") for s in SOLVERS)}
            assert not used, (module, used)


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_check_reaches_what_searches_for_its_proof(name):
    package = module_of(problem(name).check_bound).rpartition(".proving")[0]
    package = package or module_of(problem(name).check_bound).rpartition(".")[0]
    allowed = PARTS.get(name, set())
    for module in lines.reached(module_of(problem(name).check_bound)):
        *rooms, file = module.removeprefix(f"{package}.").split(".")
        if module.startswith("gadgetopt.pieces.") or module.startswith("gadgetopt.proofs."):
            assert module in TRUSTED or set(module.split(".")) & allowed, module
        elif module.startswith("gadgetopt.models."):
            assert not set(rooms) & SEARCHES, module
            apart = not rooms or "certificate" in rooms or rooms == ["checks"]
            assert apart or file == "certificate" or file in allowed, module


@pytest.mark.parametrize("name", [n for n in SYSTEMS if problem(n).check_bound])
def test_no_search_computes_by_its_check_what_is_then_checked(name):
    """A search asks its check about candidates, and shares no way of finding one with it."""
    allowed = {"check_bound"} | CANDIDATES.get(name, set()) | TABLES.get(name, set())
    assert functions_of_its_check(name) <= allowed
    assert allowed - {"check_bound"} <= functions_of_its_check(name)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_check_calls_of_its_system_what_states_the_problem_only(name):
    modules, checks = trees_of(name)
    called = {
        imported
        for module, tree in modules.items()
        if module.startswith(checks)
        for source, imported in imported_names(module, tree)
        if not source.startswith(checks) and not source.endswith(".instance")
        if imported in definitions(modules.get(source), ast.FunctionDef)
    }
    assert called == STATED.get(name, set())


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_search_runs_the_program_of_its_check(name):
    """Such programs are classes that have a method which goes through all that is left."""
    programs = {
        found.name
        for found in of_its_check(name, ast.ClassDef)
        if {"run", "search", "finds"} & set(definitions(found, ast.FunctionDef))
    }
    assert programs == set()


def test_checks_of_plans_of_pipelines_share_nothing_with_the_searches():
    stated = {"gadgetopt.pieces.pipeline.cluster", "gadgetopt.pieces.pipeline.instance"}
    for module in lines.reached("gadgetopt.pieces.pipeline.all_plans.proofs.every_plan"):
        if module.startswith("gadgetopt.pieces."):
            assert module in stated or ".pipeline.all_plans.proofs." in module


@pytest.mark.parametrize("page", sorted({lines.page_of(p) for p in lines.checked()}), ids=str)
def test_a_page_says_how_many_lines_its_checks_rest_on(page):
    assert lines.ROW.findall(page.read_text(encoding="utf-8")) == lines.rows_of(page).split("\n\n")


def test_no_method_claims_that_its_bound_is_verified():
    claims = [
        path
        for path in sorted((ROOT / "models").rglob("*.py"))
        if re.search(r"Voucher\.VERIFIED|[\"']verified[\"']", path.read_text(encoding="utf-8"))
    ]
    assert claims == []
