"""Proofs of the bounds of runs: roots by themselves, trees when asked for, never too much."""

import dataclasses
import os
import random
import time
from fractions import Fraction
from functools import partial

import pytest

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import simplest_rational
from gadgetopt.proofs import files, tree_kernel, tree_producer
from gadgetopt.proofs.exact_model import exact_model, with_rounded_costs
from gadgetopt.proofs.model import Model
from gadgetopt.proofs.relaxation import Relaxation
from gadgetopt.runs.certifying import certify_store
from gadgetopt.runs.engine.budget import budget_s
from gadgetopt.search import steps
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust import certifying, searches
from gadgetopt.trust.certificate import certified_bound, compiled_formulation
from gadgetopt.trust.certifying import certify
from gadgetopt.trust.run import solve

KNAPSACK = read_instance(library() / "quickstart" / "knapsack.json")
#: Mutations of each real proof; `GADGETOPT_FORGE=12500` makes 100,000 of them.
MUTATIONS = int(os.environ.get("GADGETOPT_FORGE", "300"))


@pytest.fixture(scope="module")
def run():
    return solve(KNAPSACK, "direct@highs", Limits(time_s=60))


#: Ample seconds, so that a small tree comes to its end before others are tried, on a busy machine.
AMPLE_S = 600.0


@pytest.fixture(scope="module")
def certified(run):
    return certify(KNAPSACK, run, AMPLE_S)


def test_a_run_proves_its_root_by_itself(run):
    assert run.status is Status.OPTIMAL
    assert run.bound_voucher is Voucher.SOLVER
    root = certified_bound(KNAPSACK.problem, KNAPSACK.data, run.certificate)
    assert root >= run.objective
    assert run.notes["proof"]["bound"] == str(root)


def test_a_tree_verifies_the_optimum(certified, run):
    assert certified.bound_voucher is Voucher.VERIFIED
    assert certified.status is Status.OPTIMAL
    assert certified.bound == run.objective
    assert certified.notes["proof"]["leaves"] > 1


def test_a_search_without_time_still_proves_the_root(run):
    given_up = certify(KNAPSACK, run, 1e-9)
    assert given_up.bound == run.bound
    assert certified_bound(KNAPSACK.problem, KNAPSACK.data, given_up.certificate) >= run.objective


def test_a_stopped_search_proves_a_bound_that_is_no_worse_than_the_roots(run):
    asked = iter([False] * 30)
    stopped = certify(KNAPSACK, run, 60, lambda: next(asked, True))
    before, after = (
        certified_bound(KNAPSACK.problem, KNAPSACK.data, r.certificate) for r in (run, stopped)
    )
    assert run.objective <= after <= before


def test_a_proof_of_another_instance_is_refused(certified):
    data = KNAPSACK.data
    other = data.model_copy(update={"capacities": tuple(c + 1 for c in data.capacities)})
    with pytest.raises(ValueError, match="model: is not that of"):
        certified_bound(KNAPSACK.problem, other, certified.certificate)


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("quickstart/knapsack.json", "direct@highs"),  # 301 leaves
        ("parallel_machines/tiny/prices_beat_counting.json", "assignment@highs"),  # 110
        ("gadget/tiny/h2_chain_of_bounds.json", "embedding@highs"),  # 99
        ("knapsack/tiny/e6_two_rows.json", "direct@highs"),
        ("knapsack/tiny/e7_petersen1.json", "direct@highs"),
        ("sjf_bco/tiny/e2_contention_pays.json", "time_indexed@highs"),
        ("marl_placement/tiny/a_together.json", "assignment@highs"),
        ("marl_placement/tiny/b_spread.json", "assignment@highs"),
    ],
)
def test_no_mutation_of_a_proof_proves_more_than_the_optimum(path, method):
    document = read_instance(library() / path)
    certified = certify(document, solve(document, method, Limits(time_s=60)), AMPLE_S)
    assert certified.bound_voucher is Voucher.VERIFIED
    name = certified.certificate.formulation
    model = exact_model(compiled_formulation(document.problem, document.data, name))
    lines = list(files.unpacked(certified.certificate.proof))
    optimum = model.least(simplest_rational(certified.objective))
    slack = abs(optimum) / 10**6  # evaluators may give a float
    rng = random.Random(1)
    counts = {"rejected": 0, "held": 0}
    for _ in range(MUTATIONS):
        changed = list(lines)
        at = rng.randrange(len(changed))
        words = changed[at].split()
        kind = rng.randrange(6)
        if kind == 0:
            del changed[at]
        elif kind == 1:
            changed.insert(at, changed[rng.randrange(len(lines))])
        else:
            k = rng.randrange(len(words))
            new = [str(rng.randint(-3, 30)), "1.0", "-" + words[k], words[k] + "0"][kind - 2]
            changed[at] = " ".join([*words[:k], new, *words[k + 1 :]])
        try:
            bound = tree_kernel.proved(model, changed)
        except tree_kernel.Rejected:
            counts["rejected"] += 1
            continue
        assert bound is not None
        assert bound <= optimum + (slack if isinstance(certified.objective, float) else 0)
        counts["held"] += 1
    assert min(counts.values()) > 0, counts


def test_where_a_small_tree_does_not_close_a_pseudo_boolean_proof_is_tried(run, monkeypatch):
    pytest.importorskip("exact", reason="the solver Exact is not installed")
    monkeypatch.setattr(tree_producer, "PLAIN", 0.0)
    monkeypatch.setattr(tree_producer.TreeProof, "grow_cut", lambda *_: False)
    result = certify(KNAPSACK, run, AMPLE_S)
    assert result.bound_voucher is Voucher.VERIFIED
    assert result.certificate.kind == "pseudo_boolean"
    assert result.notes["proof"]["steps"] > 1
    bound = certified_bound(KNAPSACK.problem, KNAPSACK.data, result.certificate)
    assert bound == run.objective


def test_ctrl_c_ends_the_search_and_keeps_what_is_proved(run, monkeypatch):
    solve_node, solved = Relaxation.solve, []

    def interrupted(relaxation, *most):
        solved.append(relaxation)
        if len(solved) == 5:
            raise KeyboardInterrupt
        return solve_node(relaxation, *most)

    monkeypatch.setattr(Relaxation, "solve", interrupted)

    def twice(document, _result, target, _left_s, tell):
        search = partial(searches.proofs_of, document, "direct", target, tell)
        return [certifying.Turn("direct", search, 0.5), certifying.Turn("direct", search)]

    monkeypatch.setattr(certifying, "_turns", twice)
    result = certify(KNAPSACK, dataclasses.replace(run, certificate=None), 60)
    assert len(solved) == 5  # not the second formulation, nor a second tree
    bound = certified_bound(KNAPSACK.problem, KNAPSACK.data, result.certificate)
    assert bound >= run.objective


def test_rounded_costs_weaken_a_bound_by_their_error():
    error = Fraction(1, 100)
    model = Model([True, True], [0, 0], [5, 5], [], ([0, 1], [-2, -3]), 1, 0, "max")
    assert with_rounded_costs(model, Fraction(-25), error) == -25 - Fraction(1, 4)
    mixed = model._replace(costs=([0, 1], [2, -3]))
    assert with_rounded_costs(mixed, Fraction(-15), error) == -15 - Fraction(1, 4)
    with pytest.raises(ValueError, match="no bound"):
        with_rounded_costs(mixed._replace(upper=[5, None]), Fraction(-15), error)


@pytest.mark.parametrize("text", ["", "x", "0", "-1x", "nan", "infx"])
def test_a_budget_is_seconds_or_a_multiple(text):
    with pytest.raises(InputError, match="certify"):
        budget_s(text, 1.0)
    assert (budget_s("30", 2.0), budget_s("10x", 2.0)) == (30.0, 20.0)
    assert (budget_s("1x", 0.01), budget_s("10x", 0.01)) == (0.01, 4.5)


def test_a_store_is_certified_afterwards(tmp_path):
    from gadgetopt.runs.comparison import compare
    from gadgetopt.runs.store import Store

    path = tmp_path / "runs.sqlite"
    compare([KNAPSACK.path], ["direct@highs"], store=path, workers=0)
    counts = certify_store(path, "60")
    assert (counts.runs, counts.verified) == (1, 1)
    with Store(path) as store:
        (kept,) = store.runs()
    assert kept.result.bound_voucher is Voucher.VERIFIED
    assert certify_store(path, "60").runs == 0
    assert dataclasses.replace(kept.result).certificate is not None


@pytest.fixture
def stored(run, tmp_path):
    """A store of two runs of HiGHS; the certificate of the first is of another version."""
    from gadgetopt.runs.comparison import compare
    from gadgetopt.runs.store import Store

    path = tmp_path / "runs.sqlite"
    compare([KNAPSACK.path], ["direct@highs"], store=path, workers=0)
    with Store(path) as store:
        (first,) = store.runs()
        old = first.result.certificate.model_copy(update={"model": "0" * 64})
        result = dataclasses.replace(first.result, certificate=old)
        store.add(dataclasses.replace(first, result=result))
        store.add(dataclasses.replace(first, key="another"))
    return path


def test_a_stored_proof_of_another_version_is_replaced(stored):
    from gadgetopt.runs.store import Store

    counts = certify_store(stored, "60")
    assert (counts.runs, counts.verified) == (2, 2)
    with Store(stored) as store:
        for kept in store.runs():
            proved = certified_bound(KNAPSACK.problem, KNAPSACK.data, kept.result.certificate)
            assert proved == kept.result.bound


def test_what_another_version_verified_is_not_exchanged_for_less(certified):
    old = certified.certificate.model_copy(update={"model": "0" * 64})
    before = dataclasses.replace(certified, certificate=old, status=Status.FEASIBLE)
    assert certify(KNAPSACK, before, 1e-9).certificate == old


def test_a_damaged_run_does_not_end_the_proofs_of_the_others(stored):
    import sqlite3

    with sqlite3.connect(stored) as connection:
        connection.execute("UPDATE runs SET certificate = '{' WHERE key = 'another'")
    told: list[str] = []
    counts = certify_store(stored, "60", tell=told.append)
    assert (counts.runs, counts.verified) == (1, 1)
    assert any("left out" in line for line in told)


def test_a_run_that_another_process_has_proved_meanwhile_is_left_as_it_is(stored, monkeypatch):
    from gadgetopt.runs.engine.prover import Prover
    from gadgetopt.runs.engine.work import unproved
    from gadgetopt.runs.rows import to_row
    from gadgetopt.runs.store import Store

    def beaten(_, run, document):
        with Store(stored) as store:  # the other process ends first, with a whole proof
            (mine,) = [known for known in store.runs() if known.result == run.result]
            whole = certify(document, run.result, AMPLE_S)
            store.add(dataclasses.replace(mine, result=whole))
        return unproved(to_row(run), "in part")

    monkeypatch.setattr(Prover, "proved", beaten)
    told: list[str] = []
    counts = certify_store(stored, "60", tell=told.append)
    assert counts.verified == counts.runs
    assert all("meanwhile" in line for line in told)
    with Store(stored) as store:
        assert {run.result.bound_voucher for run in store.runs()} == {Voucher.VERIFIED}


def test_a_proof_that_the_runs_own_solution_refutes_is_no_bound(run):
    """As where a formulation forbids solutions of the problem: its optimum bounds nothing."""
    better = dataclasses.replace(
        run,
        objective=10 * run.objective,
        bound=None,
        bound_voucher=None,
        status=Status.FEASIBLE,
        certificate=None,
        notes={},
    )
    out = certify(KNAPSACK, better, 60)
    assert (out.bound, out.bound_voucher, out.certificate) == (None, None, None)
    assert "refuted by the solution of 82220" in out.notes["proof"]["refused"]


def test_where_no_tree_closes_a_default_method_proves_the_bound(run, monkeypatch):
    monkeypatch.setattr(certifying, "proofs_of", lambda *_: iter(()))
    result = certify(KNAPSACK, run, 60)
    assert result.bound_voucher is Voucher.VERIFIED
    assert result.notes["proof"]["method"] == "cg_core"
    assert result.notes["proof"]["bytes"] > 0
    bound = certified_bound(KNAPSACK.problem, KNAPSACK.data, result.certificate)
    assert bound == run.objective


def test_a_tree_of_the_run_s_formulation_is_told_whether_methods_wait_for_it(run, monkeypatch):
    alone = dataclasses.replace(KNAPSACK.problem, default_methods=())
    told = []

    def asked(_document, _name, _target, _tell, _left_s, _is_claimed, is_waited_for):
        told.append(is_waited_for)
        return iter(())

    monkeypatch.setattr(certifying, "proofs_of", asked)
    for problem in (KNAPSACK.problem, alone):
        list(
            certifying._turns(
                dataclasses.replace(KNAPSACK, problem=problem),
                run,
                run.objective,
                lambda: 1.0,
                lambda doing: None,
            )
        )
    assert told == [True, False]


def test_a_proof_that_reaches_the_target_is_not_weighed_against_the_run_s_own(run, monkeypatch):
    """A run whose own certificate reaches it is verified already, and checks take long."""
    assert run.certificate is not None
    monkeypatch.setattr(certifying, "certified_bound", None)
    result = certify(KNAPSACK, run, 60)
    assert result.bound_voucher is Voucher.VERIFIED
    assert result.certificate != run.certificate


def test_a_run_is_not_proved_by_a_method_of_its_own_name(monkeypatch):
    own = dataclasses.replace(solve(KNAPSACK, "cg_core", Limits(time_s=60)), certificate=None)
    own = dataclasses.replace(own, bound_voucher=Voucher.SOLVER)
    monkeypatch.setattr(certifying, "proofs_of", lambda *_: iter(()))
    monkeypatch.setattr(certifying, "solve", None)
    assert certify(KNAPSACK, own, 60) == own


def for_ever(*_):
    while True:
        time.sleep(0.01)


def test_a_model_that_is_built_for_ever_ends_the_search_at_its_time(run, monkeypatch):
    """Its time runs out while it is built; what the run has proved already stays."""
    monkeypatch.setattr(searches, "compiled_formulation", for_ever)
    began = time.monotonic()
    result = certify(KNAPSACK, run, 0.5)
    assert time.monotonic() < began + 5
    assert result.certificate is not None
    assert "building direct" in result.notes["proof"]["ended"]


def test_a_method_that_looks_at_no_clock_is_ended_at_its_share(run, monkeypatch):
    monkeypatch.setattr(certifying, "proofs_of", lambda *_: iter(()))
    monkeypatch.setattr(certifying, "solve", for_ever)
    result = certify(KNAPSACK, dataclasses.replace(run, certificate=None, notes={}), 0.5)
    assert result.certificate is None
    assert "time was up while running" in result.notes["proof"]["ended"]


def test_ctrl_c_during_a_method_ends_the_search(run, monkeypatch):
    interrupted = dataclasses.replace(run, certificate=None, limit_hit="interrupted")
    tried = []
    monkeypatch.setattr(certifying, "proofs_of", lambda *_: iter(tried.append("tree") or ()))
    monkeypatch.setattr(certifying, "solve", lambda *_: interrupted)
    certify(KNAPSACK, run, 60)
    assert tried == ["tree"]


def test_ctrl_c_during_a_method_keeps_the_proof_that_was_begun(run, monkeypatch):
    """The tree has had one round, which says what it has proved when it is asked again."""
    bare = dataclasses.replace(run, certificate=None)
    interrupted = dataclasses.replace(bare, limit_hit="interrupted")
    monkeypatch.setattr(steps, "FIRST_S", 0.0)
    monkeypatch.setattr(steps, "FIRST_PARTS", (0.0, 0.0))
    monkeypatch.setattr(searches, "_may_be_boolean", lambda _: False)
    monkeypatch.setattr(certifying, "solve", lambda *_: interrupted)
    result = certify(KNAPSACK, bare, 60)
    assert result.notes["proof"]["kind"] == "tree"
    bound = certified_bound(KNAPSACK.problem, KNAPSACK.data, result.certificate)
    assert run.objective <= bound < 2 * run.objective
