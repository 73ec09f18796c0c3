"""Small instances of every system with the objective of a solution, and certificates for them."""

import contextlib
import random
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.numbers.text import show
from gadgetopt.solvers.formulations.backends import capable
from gadgetopt.system.data import Data
from gadgetopt.system.declaration import resolved
from gadgetopt.system.files import Document, find_instances, library, read_instance, validate
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from .a_srpt.branch_proofs import closed
from .certificate_kinds import declared_kinds, shown_kinds

#: Instances of which a system's default method finds an optimum at once; of other systems the first
#: three of its tiny ones.
TINY = {
    "adsp_rates": ("a2_window_of_two", "momentum_of_the_figure", "time_to_accuracy"),
    "adsp_training": ("first_arrival", "settled", "three_arrivals"),
    "forest_packing": ("h2_heterogeneous_triangle", "h4_star_with_a_switch", "h6_sequential"),
    "gadget": ("h2_chain_of_bounds", "h5_slot", "h7_square"),
    "knapsack": ("e6_two_rows", "decimals_exact_fit"),
    "oneflow_sbp": ("h1_memory", "h1_shared_boxing", "listed_tables", "two_groups"),
    "parallel_machines": ("graham_lpt_three_machines", "one_job_too_many", "prices_beat_counting"),
    "pd_ors": ("a_locality", "e_two_jobs", "h_ratio_exact"),
    "sjf_bco": ("e1_co_locate", "e4a_three_jobs"),
    "smd": ("e2_sync", "e3_async_used", "e4_greedy_trap"),
}
#: Generated instances with methods that prove by a kind of certificate which those have not.
GENERATED = {
    "a_srpt": [("pool", {}, "size_price_bound")],
    "bgl_partition": [("quickstart", {}, "branch_and_cut"), ("quickstart", {}, "cut_bound")],
    "forest_packing": [("star", {}, "cut_generation")],
    "adversarial_online_policy": [("predicted", {}, "minimax")],
    "sjf_bco": [("quickstart", {}, "gpu_bins")],
}

#: Proofs that only large instances need, made for small ones.
MADE = {"a_srpt": [closed]}

#: Every run here takes a second of processor time at most, on a busy machine much longer.
AMPLE = Limits(time_s=600)

#: Part by which duals of a model of doubles may miss.
OF_DOUBLES = Fraction(1, 10**12)

#: Records that are drawn for each system.
DRAWN = 150


def with_idle_parts(document):
    """Return instances with parts that have no capacity at all."""
    data = document.data.model_dump(mode="json", exclude_none=True)
    name = document.problem.name
    if name == "pd_ors":
        data["machines"].append({"capacity": [0] * len(data["resources"])})
    elif name == "gadget" and data["substrate"]["kind"] == "two_tier":
        idle = {"rack": 0, "capacity": [0] * len(data["resources"]), "access_mbps": 0}
        data["substrate"]["servers"].append(idle)
        data["substrate"]["racks"].append({"uplink_mbps": 0})
    elif name == "knapsack":
        data["capacities"].append(0)
        for group in data["groups"]:
            for k, item in enumerate(group):
                item["weights"].append(int(k > 0))
    elif name == "smd":
        data["capacity"][0] = 0
    else:
        return []
    changed = validate(document.problem.instance_type, data, "idle parts")
    return [Document(document.problem, "instance", f"{document.name}, idle parts", changed)]


@cache
def cases(system):
    """Return instances with the objective of a feasible solution, and their true certificates."""
    folder = library() / system / "tiny"
    tiny = TINY.get(system) or sorted(path.stem for path in folder.glob("*.json"))[:3]
    paths = [folder / f"{name}.json" for name in tiny]
    paths.append(library() / "quickstart" / f"{system}.json")
    documents = [read_instance(path) for path in find_instances(paths)]
    documents += [changed for document in documents for changed in with_idle_parts(document)]
    return [(document, *_known(document)) for document in documents]


def _known(document):
    wanted = [m.name for m in document.problem.methods if m.kind == "relaxation"]
    results = [
        solve(document, method, AMPLE) for method in (document.problem.default_method, *wanted)
    ]
    assert results[0].status is Status.OPTIMAL, results[0].reason
    true = [
        r.certificate.model_dump(mode="json", exclude_none=True)
        for r in results
        if r.certificate is not None
    ]
    return results[0].objective, true


def assert_holds(document, objective, bound, slack=Fraction(0)):
    best, proved = Fraction(objective), Fraction(bound)
    missing = proved - best if document.problem.sense == "min" else best - proved
    assert missing <= slack * abs(best), f"{document.name}: {show(bound)} against {best}"


# -- of every kind that is declared ----------------------------------------------------------------


@cache
def of_every_kind(system):
    """Return instances with an objective and certificates; together these are of every kind.

    Those of kinds that no run here proves by are drawn, so that what they say is seldom true.
    """
    known = [(document, objective, list(true)) for document, objective, true in cases(system)]
    known += [_run(system, *words) for words in GENERATED.get(system, ())]
    known += [_made(system, *make()) for make in MADE.get(system, ())]
    document, _, true = min(known, key=lambda case: len(case[0].data.model_dump_json()))
    true += _of_models(document)
    for record in _drawn_records(document.problem):
        rng = random.Random(0)
        lengths = sorted({0, 1, *document.problem.size(document.data).values()} & set(range(20)))
        true += [_drawn(record, rng, lengths) for _ in range(DRAWN)]
    return known


def missing_kinds(problem, certificates):
    """Return the kinds of a system's certificates that none of some is of."""
    record = resolved(problem.certificate_type)
    shown = set()
    for data in certificates if record is not None else ():
        with contextlib.suppress(InputError):
            shown |= shown_kinds(validate(record, data, "proof.json"))
    return declared_kinds(problem) - shown


def _run(system, preset, options, method):
    document, *_ = gadgetopt.generate(system, preset, seed=0, **options)
    objective = solve(document, document.problem.default_method, AMPLE).objective
    certificate = solve(document, method, AMPLE).certificate
    return document, objective, [certificate.model_dump(mode="json", exclude_none=True)]


def _made(system, instance, objective, proof):
    certificate = resolved(problem(system).certificate_type)(proof=proof)
    document = Document(problem(system), "instance", "made", instance)
    return document, objective, [certificate.model_dump(mode="json", exclude_none=True)]


def _of_models(document):
    """Return duals or proofs about the models of the first formulations that HiGHS takes."""
    linear = [f for f in document.problem.formulations if "highs" in capable(f)][:2]
    found = [solve(document, f"{f.name}@highs", AMPLE).certificate for f in linear]
    return [c.model_dump(mode="json", exclude_none=True) for c in found if c is not None]


def _drawn_records(problem):
    return [resolved(problem.certificate_type)] if problem.certificate_type is not None else []


def _drawn(annotation, rng, lengths):
    """Return plain data of a type: small numbers, and lists of the lengths that are given."""
    origin, args = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Data):
        length = [rng.choice(lengths)]  # what belongs together is mostly of one length
        return {
            name: _drawn(field.annotation, rng, length if rng.random() < 0.9 else lengths)
            for name, field in annotation.model_fields.items()
            if field.is_required() or rng.random() < 0.5
        }
    if origin is Annotated:
        return _drawn(args[0], rng, lengths)
    if origin is Literal:
        return rng.choice(args)
    if origin in (Union, UnionType):
        return _drawn(rng.choice([a for a in args if a is not NoneType]), rng, lengths)
    if origin is tuple:
        parts = [args[0]] * rng.choice(lengths) if args[-1] is Ellipsis else args
        drawn = [_drawn(part, rng, lengths) for part in parts]
        if rng.random() < 0.5 and all(type(part) is int for part in drawn):
            return list(range(len(drawn)))  # as indices and times are: different, in order
        return drawn
    if origin is dict:
        return {str(k): _drawn(args[1], rng, lengths) for k in range(rng.choice(lengths))}
    if annotation in (int, float, Fraction):
        return rng.choice((0, 1, 1, 2, 3))
    assert annotation in (bool, str), annotation
    return rng.choice((True, False)) if annotation is bool else "x"
