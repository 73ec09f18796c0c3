"""Summaries agree with plain counting, run by run."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.reporting.geometric_means import bootstrap_interval, shifted_geometric_mean
from gadgetopt.reporting.summary import summarize, summary
from gadgetopt.reporting.summary.groups import INTERVALS, MEASURES
from gadgetopt.runs.store import Store
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status, TracePoint, Voucher
from gadgetopt.trust.theorems import Promise, Verdict, verdict

from ..entries_of import LIMIT_S, result, study, table


def runs_of(entries, system, method=None, instance=None):
    return [
        e
        for e in entries
        if e.result.problem == system
        and method in (None, e.result.method)
        and instance in (None, e.result.instance)
    ]


def mean_objective(runs):
    """The mean over the seeds; None unless each of them found a solution."""
    found = [e.result.objective for e in runs]
    return None if None in found or not found else Fraction(sum(found)) / len(found)


def names(entries):
    return sorted({e.result.instance for e in entries})


@pytest.fixture(scope="module", params=range(4))
def drawn(request):
    return study(draw=request.param)


@pytest.fixture(scope="module")
def rows(drawn):
    return summarize(drawn).to_dict("records")


def test_a_row_per_system_and_method_in_the_order_of_their_runs(drawn, rows):
    seen = dict.fromkeys((e.result.problem, e.result.method) for e in drawn)
    assert [(row["system"], row["method"]) for row in rows] == list(seen)
    assert list(summarize(drawn)) == ["system", "method", *MEASURES]


def test_numbers_of_runs_are_counts(drawn, rows):
    for row in rows:
        results = [e.result for e in runs_of(drawn, row["system"], row["method"])]
        assert row["runs"] == len(results)
        assert row["instances"] == len({r.instance for r in results})
        assert row["errors"] == sum(r.status == "error" for r in results)
        assert row["limits"] == sum(r.limit_hit == "time_s" for r in results)


def test_an_instance_is_solved_if_every_seed_solved_it(drawn, rows):
    for row in rows:
        own = runs_of(drawn, row["system"], row["method"])
        by_instance = [[e.result for e in own if e.result.instance == i] for i in names(own)]
        assert row["solved"] == sum(all(r.objective is not None for r in rs) for rs in by_instance)
        assert row["optimal"] == sum(all(r.status == "optimal" for r in rs) for rs in by_instance)
        assert row["optimal"] == sum(row[f"optimal_{v}"] for v in vouchers())


def vouchers():
    return [str(v).replace("-", "_") for v in Voucher]


def test_wins_and_ties_are_those_of_the_mean_objectives(drawn, rows):
    for system in ("sjf_bco", "knapsack"):
        better = min if problem(system).sense == "min" else max
        wins, ties = dict.fromkeys(("own", "random", "search", "bound"), 0), {}
        ties |= wins
        for instance in names(drawn):
            found = {m: mean_objective(runs_of(drawn, system, m, instance)) for m in wins}
            known = {m: x for m, x in found.items() if x is not None}
            first = [m for m, x in known.items() if agrees(x, better(known.values()))]
            for method in first:
                (wins if len(first) == 1 else ties)[method] += 1
        for row in rows:
            if row["system"] == system:
                assert (row["wins"], row["ties"]) == (wins[row["method"]], ties[row["method"]])


def test_median_and_worst_are_intervals_of_the_means_over_the_seeds(drawn, rows):
    for row in rows:
        lows, highs, closed = [], [], 0
        own = runs_of(drawn, row["system"], row["method"])
        for instance in names(own):
            runs = [e for e in own if e.result.instance == instance]
            if mean_objective(runs) is not None:
                lows.append(sum(float(e.ratio.low) for e in runs) / len(runs))
                highs.append(
                    sum(math.inf if e.ratio.high is None else float(e.ratio.high) for e in runs)
                    / len(runs)
                )
                closed += all(e.ratio.certified for e in runs)
        assert row["rated"] == len(lows)
        assert row["certified"] == closed == sum(row[f"certified_{v}"] for v in vouchers())
        if not lows:
            assert math.isnan(row["ratio_median_low"])
            continue
        for end, values in (("low", lows), ("high", highs)):
            assert row[f"ratio_median_{end}"] == pytest.approx(statistics.median(values))
            assert row[f"ratio_worst_{end}"] == pytest.approx(max(values))


def test_theorems_are_those_of_the_runs(drawn, rows):
    for row in rows:
        own = runs_of(drawn, row["system"], row["method"])
        exceeded = [
            {p.standing for p in e.promises if verdict(p, e.ratio) is Verdict.EXCEEDED} for e in own
        ]
        assert row["refuted"] == sum(map(bool, exceeded))
        assert row["refuted_proven"] == sum("proven" in standings for standings in exceeded)
        # A theorem is about the solution of a complete run; only "own" has one.
        complete = [e.result.objective is not None and not e.result.limit_hit for e in own]
        assert row["guaranteed"] == (sum(complete) if row["method"] == "own" else 0)
        if row["guaranteed"]:
            assert row["guarantee_median"] == row["guarantee_worst"] == 3


def test_time_is_a_shifted_geometric_mean_with_the_limit_for_unfinished_runs(drawn, rows):
    for row in rows:
        own = runs_of(drawn, row["system"], row["method"])
        times = []
        for instance in names(own):
            seconds = [
                LIMIT_S if e.result.status == "error" or e.result.limit_hit else e.result.time_s
                for e in own
                if e.result.instance == instance
            ]
            times.append(sum(seconds) / len(seconds))
        product = math.prod(t + 1 for t in times)
        assert row["time_s"] == pytest.approx(product ** (1 / len(times)) - 1)


def test_groups_are_disjoint_and_together_the_whole(drawn):
    whole = summarize(drawn)
    for by in (["size_jobs"], ["size_load:3"], ["instance"], ["size_jobs", "size_load:2"]):
        parts = summarize(drawn, by)
        assert len(parts) > len(whole)
        counts = [
            "runs", "instances", "errors", "solved", "optimal", "wins", "ties", "certified",
        ]  # fmt: skip
        added = parts.groupby(["system", "method"], sort=False)[counts].sum().reset_index()
        assert added.equals(whole[["system", "method", *counts]])


def test_groups_are_sorted_by_number():
    assert list(dict.fromkeys(summarize(study(), ["size_jobs"])["size_jobs"])) == [4, 8, 12]
    ranges = list(dict.fromkeys(summarize(study(), ["size_load:3"])["size_load"]))
    assert ranges == ["0 to 0.3", "0.4 to 0.7", "0.8 to 1.1"]


def test_equal_values_stay_in_one_range():
    parts = summarize(study(systems=("sjf_bco",)), ["size_jobs:2"])
    assert set(parts["size_jobs"]) == {"4", "8 to 12"}


def test_an_unknown_column_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"'jobs' is no column .* have instance, size_jobs"):
        summary(study(), "jobs")
    with pytest.raises(InputError, match="'0' is not a positive number of groups"):
        summary(study(), "size_jobs:0")


def test_filters_take_names_kinds_and_patterns():
    entries = study()
    frame = summary(entries, systems=["knapsack"], methods=["exact", "ra*"], instances=["i00*"])
    assert set(frame["system"]) == {"knapsack"}
    assert list(frame["method"]) == ["random", "search"]
    assert set(frame["instances"]) == {10}
    for wrong in ({"systems": ["x"]}, {"methods": ["x"]}, {"instances": ["x"]}):
        with pytest.raises(InputError, match="'x' fits none of"):
            summary(entries, **wrong)


def test_ratios_of_chosen_methods_are_those_to_the_best_of_all():
    entries = study()
    all_rows, some = summary(entries), summary(entries, methods=["own"])
    columns = ["ratio_median_low", "ratio_median_high", "certified", "certified_verified"]
    own = all_rows[all_rows["method"] == "own"].reset_index(drop=True)
    assert some[columns].equals(own[columns])
    assert set(some["compared"]) == {0}  # nobody to win against


def test_refused_runs_are_no_errors():
    refused = result("i", "search", "exact", status=Status.NOT_APPLICABLE, reason="no")
    row = summarize(table([result("i", "own", objective=3), refused])).to_dict("records")[1]
    assert (row["not_applicable"], row["runs"], row["instances"], row["errors"]) == (1, 0, 0, 0)
    assert math.isnan(row["time_s"])


def test_infeasible_instances_are_counted():
    proved = result("i", "search", "exact", status=Status.INFEASIBLE)
    row = summarize(table([proved])).to_dict("records")[0]
    assert (row["infeasible"], row["solved"], row["instances"]) == (1, 0, 1)


def test_a_ratio_without_a_bound_is_open_above():
    row = summarize(table([result("i", "own", objective=3)])).to_dict("records")[0]
    assert (row["ratio_worst_low"], row["ratio_worst_high"], row["certified"]) == (1, math.inf, 0)


def test_a_certified_ratio_rests_on_the_voucher_of_the_best_bound():
    runs = [
        result("i", "own", objective=4),
        result("i", "search", "exact", 3, 3, voucher=Voucher.SOLVER),
        result("i", "bound", "relaxation", None, 3, voucher=Voucher.VERIFIED),
    ]
    row = summarize(table(runs)).to_dict("records")[0]
    assert (row["certified_verified"], row["certified_solver"]) == (1, 0)
    row = summarize(table(runs[:2])).to_dict("records")[0]
    assert (row["certified_verified"], row["certified_solver"]) == (0, 1)


def test_runs_with_other_limits_are_other_methods():
    one = table([result("i", "own", objective=3)], limits=Limits(time_s=5))
    other = table([result("i", "own", objective=4)], limits=Limits(time_s=60))
    assert list(summarize(one + other)["method"]) == ["own 5 s", "own 60 s"]


def test_the_shift_keeps_short_times_from_deciding():
    assert shifted_geometric_mean([3.0, 0.0]) == pytest.approx(1.0)
    assert math.isnan(shifted_geometric_mean([]))


def test_a_generator_adds_intervals_and_primal_dual_integrals():
    # Integrals of 3 s and of 1 s (a gap of 100 % until 1 s), times of 3 s and 0 s.
    def ended(name, time_s, integral_s):
        trace = (TracePoint(0, 4, None), TracePoint(integral_s, 4, 4))
        return result(name, "own", "exact", 4, 4, time_s=time_s, trace=trace)

    entries = table([ended("a", 3.0, 3.0), ended("b", 0.0, 0.0)])
    plain = summarize(entries)
    assert list(plain.columns) == ["system", "method", *MEASURES]
    drawn = summarize(entries, rng=np.random.default_rng(0))
    assert list(drawn.columns) == ["system", "method", *MEASURES, *INTERVALS]
    row = drawn.to_dict("records")[0]
    assert row["time_s"] == row["integral_shifted_1_s"] == pytest.approx(1)
    for name in ("time", "integral"):
        ends = row[f"{name}_shifted_1_s_low"], row[f"{name}_shifted_1_s_high"]
        assert ends == pytest.approx(bootstrap_interval([3, 0], np.random.default_rng(0)))
    # A run whose trace was not read leaves its method without integrals.
    unread = table([ended("a", 3.0, 3.0), result("b", "own", "exact", 4, 4)])
    row = summarize(unread, rng=np.random.default_rng(0)).to_dict("records")[0]
    assert math.isnan(row["integral_shifted_1_s"])
    assert not math.isnan(row["time_shifted_1_s_low"])


def test_nothing_gives_an_empty_table():
    assert summary([]).empty


def test_a_vacuous_guarantee_is_kept_as_a_number():
    runs = table([result("i", "own", "approximation", 3)], [Promise("T", "1", "proven", 10**9)])
    assert summarize(runs)["guarantee_worst"][0] == 1e9


def test_a_store_gives_the_summary_of_its_entries(tmp_path, tiny):
    store = tmp_path / "runs.sqlite"
    made = gadgetopt.compare([tiny], ["first_fit", "random_placement"], seeds=2, store=store)
    for by in ((), "size_jobs"):
        assert gadgetopt.summary(store, by).equals(gadgetopt.summary(made, by))
    with Store(store, create=False) as kept:
        assert set(summary(store, "size_jobs")["size_jobs"]) == {
            i.size["jobs"] for i in kept.instances().values()
        }
