"""Sentences say what the table says, and nothing rounded in favour of a method."""

import math
import re

import pytest

from gadgetopt.numbers.tolerance import as_double
from gadgetopt.reporting.cells import gap, share
from gadgetopt.reporting.sentences import certified, failures, findings, headline, refuted
from gadgetopt.reporting.summary import summarize
from gadgetopt.system.result import Status, Voucher
from gadgetopt.trust.theorems import Promise

from .entries_of import result, study, table


def said(results, promises=()):
    entries = table(results, promises)
    return headline(summarize(entries), entries)


def compared(objectives, bound=100, voucher=Voucher.SOLVER):
    """Results of a heuristic and of an exact method that finds 100 on every instance."""
    out = []
    for k, objective in enumerate(objectives):
        out.append(result(f"i{k}", "sjf_bco", "approximation", objective))
        out.append(result(f"i{k}", "ladder", "exact", 100, bound, voucher=voucher))
    return out


def test_the_sentence_on_a_system_says_how_far_how_often_and_who_proved_it():
    assert said(compared([100, 110, 113.2, 114, 186])) == [
        "sjf_bco: within 14 % of the optimum on half of 5 instances, worst ratio 1.860; as good as "
        "the best method on 20 %; ladder closes the gap on 5 of 5 (all claimed by a solver)"
    ]


@pytest.mark.parametrize(
    ("objectives", "words"),
    [
        ([100, 100, 140], "optimal on 2 of 3 instances, worst ratio 1.400; as good as the best"),
        ([100, 100], "optimal on all 2 instances; always as good as the best method"),
        ([100], "optimal; as good as the best method; ladder closes the gap (claimed by a solver)"),
        ([140], "ratio 1.400; another method is better"),
        ([100.2, 100.4], "within 0.3 % of the optimum on half of 2"),
        ([310, 320.9], "within a factor of 3.16 of the optimum on half of 2"),
    ],
)
def test_distances_are_said_in_the_words_that_suit_them(objectives, words):
    assert said(compared(objectives))[0].startswith(f"sjf_bco: {words}")


def test_a_percentage_is_rounded_away_from_the_optimum():
    assert "within 15 % of" in said(compared([114.01, 200, 114.01]))[0]
    for draw in range(20):
        frame = summarize(study(draw=draw, systems=("sjf_bco",)))
        within = re.search(r"within ([\d.]+) % ", findings(frame)[0])
        if within:
            own = frame[frame["method"] == "own"].iloc[0]
            assert as_double(own["ratio_median_high"]) <= 1 + float(within[1]) / 100 + 1e-9


def test_without_a_bound_nothing_is_claimed():
    runs = [result("i", "own", objective=12), result("i", "other", "baseline", 10)]
    runs += [result("j", "own", objective=12), result("j", "other", "baseline", 10)]
    text = said(runs)[0]
    assert text == (
        "sjf_bco, own: ratio at least 1.200 on half of 2 instances, worst ratio at least 1.200, "
        "no known dual bound limits the ratio on any of them; never as good as the best method"
    )


def test_a_ratio_of_which_nothing_is_known_is_not_told():
    """That a ratio is at least 1 is true of every ratio."""
    both = [result(f"i{k}", "sjf_bco", objective=10) for k in range(4)]
    assert said(both) == ["sjf_bco: no known dual bound limits the ratio on any of 4 instances"]
    assert said(both[:1]) == ["sjf_bco: no known dual bound limits the ratio"]
    some = [*both, *(result(f"i{k}", "b", "relaxation", None, 9) for k in range(3))]
    assert said(some) == [
        "sjf_bco: within 12 % of the optimum on half of 4 instances, "
        "no known dual bound limits the ratio on 1 of them; 0 of 4 ratios are certified"
    ]
    zero = [*both, *(result(f"i{k}", "b", "relaxation", None, 0) for k in range(4))]
    assert said(zero) == ["sjf_bco: no known dual bound limits the ratio on any of 4 instances"]


def test_no_sentence_of_any_comparison_says_that_a_ratio_is_at_least_one():
    names = ("sjf_bco", "smd", "spp", "knapsack", "gadget")
    for draw in range(30):
        for systems in (names[:1], names[:2], names):
            for entries in (study(4, 1, systems, draw), study(1, 1, systems, draw)):
                own = [e.result for e in entries if e.result.kind != "exact"]
                for told in (headline(summarize(entries), entries), said(own)):
                    assert not re.search(r"at least 1\.000", " ".join(told))


def test_shares_round_to_none_and_all_only_if_they_are():
    assert [share(*x) for x in ((0, 9), (1, 999), (1, 2), (998, 999), (9, 9))] == [
        "0", "<1", "50", ">99", "100",
    ]  # fmt: skip


def test_certified_ratios_are_told_by_whom():
    runs = [
        *compared([110, 120], voucher=Voucher.VERIFIED),
        result("x", "sjf_bco", "approximation", 120), result("x", "ladder", "exact", 100, 100),
        result("y", "sjf_bco", "approximation", 120),
    ]  # fmt: skip
    row = summarize(table(runs)).to_dict("records")[0]
    assert certified(row) == "3 of 4 ratios are certified (2 verified, 1 claimed by a solver)"


def test_failures_name_the_methods():
    runs = [
        result("i", "own", "approximation", 30), result("i", "search", "exact", 10, 10),
        result("i", "bad", "baseline", status=Status.ERROR, reason="x"),
        result("i", "slow", "heuristic", 20, limit_hit="time_s"),
    ]  # fmt: skip
    theorems = [Promise("T", "1", "proven", 2), Promise("C", "2", "claimed", 1)]
    assert failures(summarize(table(runs, theorems))) == [
        "1 of 4 runs failed: bad 1",
        "1 of 4 runs stopped at a limit of time or memory: slow 1",
        "1 of 4 runs exceeded a proven theorem: own 1",
    ]
    assert failures(summarize(table(runs[:2], theorems[1:]))) == [
        "1 run refutes a claim (a ratio stated without a valid proof): system sjf_bco, method own"
    ]


@pytest.mark.parametrize(
    ("objective", "bound", "promised", "standing", "words"),
    [
        (12, 10, 1, "claimed", "Refuted claim: {}: ratio 1.200 > 1.000 claimed by 'T'"),
        (12, 10, 1.1, "proven", "Exceeded theorem: {}: ratio 1.200 > 1.100 guaranteed by 'T'"),
        (
            12,
            9,
            1.1,
            "claimed",
            "Refuted claim: {}: ratio of at least 1.200 > 1.100 claimed by 'T'",
        ),
        (100_002, 10**5, 1, "claimed", "Refuted claim: {}: ratio 1.00002 > 1.00000 claimed by 'T'"),
        (
            30_000,
            10,
            2000,
            "claimed",
            "Refuted claim: {}: ratio 3000.000 > 2000.000 claimed by 'T'",
        ),
    ],
)
def test_a_refuted_statement_is_said_with_both_ratios(objective, bound, promised, standing, words):
    best = 10**5 if bound == 10**5 else 10
    runs = [
        result("i", "own", "approximation", objective), result("i", "search", "exact", best, bound)
    ]  # fmt: skip
    entry, _ = table(runs, [Promise("T", "1", standing, promised)])
    where = "system sjf_bco, method own, instance i"
    assert refuted(entry, entry.promises[0]) == words.format(where)


def test_many_systems_share_one_sentence():
    names = ("sjf_bco", "smd", "spp", "knapsack", "gadget")
    runs = [
        r for k, system in enumerate(names)
        for r in (
            result("i", "own", "approximation", 12 + k, system=system),
            result("i", "search", "exact", 12, 12 + k * (system != "spp"), system=system),
        )
    ]  # fmt: skip
    lines = findings(summarize(table(runs)))
    assert len(lines) == 1
    assert lines[0].startswith("5 systems, 5 instances, ")


def test_of_no_run_nothing_is_said():
    assert headline(summarize([]), []) == []
    lines = said([result("i", "own", "approximation", status=Status.ERROR, reason="x")])
    assert lines == ["sjf_bco: no method found a solution", "1 of 1 run failed: own 1"]


WHY = {"infeasible": "makespan_slots is at least 7, but horizon_slots is 5"}


def hopeless(instance, method="ladder", bound=7, voucher=Voucher.VERIFIED, notes=WHY, kind="exact"):
    """A proof that an instance has no solution."""
    status = Status.INFEASIBLE
    return result(
        instance, method, kind, None, bound, status=status, voucher=voucher, notes=notes or {}
    )


def test_that_there_is_no_solution_is_said_first_with_its_bound():
    runs = [result("i", "own", "approximation", None), hopeless("i", "weak", kind="relaxation")]
    assert said([*runs, hopeless("i")]) == [
        "sjf_bco: proved infeasible by ladder (verified): "
        "makespan_slots is at least 7, but horizon_slots is 5"
    ]
    others = [result("j", "own", "approximation", 12), result("j", "ladder", "exact", 10, 10)]
    lines = said([*runs, hopeless("i"), *others])
    assert lines[0].startswith("sjf_bco, i: proved infeasible by ladder (verified): makespan")
    # Nobody can be better than another where nobody can find anything.
    assert lines[1].startswith("sjf_bco, own: within 20 % of the optimum on half of the 1 of 2 ")
    row = summarize(table([*runs, hopeless("i"), *others])).to_dict("records")[0]
    assert (row["instances"], row["compared"], row["wins"], row["infeasible"]) == (2, 1, 0, 0)


def test_infeasible_instances_are_counted_by_voucher():
    runs = [hopeless(f"i{k}") for k in range(3)]
    runs += [hopeless("j", bound=None, notes=None), result("k", "own", "approximation", None)]
    assert said(runs) == [
        "sjf_bco: 4 of 5 instances proved infeasible by ladder (3 verified, 1 claimed by a solver)",
        "sjf_bco: no method found a solution of 1 other instance",
    ]


def test_a_bound_that_is_not_beyond_the_limit_vouches_for_nothing():
    """A method may claim infeasibility beside a bound that does not prove it."""
    assert "(claimed by a solver)" in said([hopeless("i", notes=None)])[0]
    twice = [hopeless("i", notes=None), hopeless("i", "other", notes=None)]
    assert "(cross-checked)" in said(twice)[0]


def test_what_has_no_ratio_counts_by_its_gap():
    closed = [
        result(f"i{k}", "highs", "exact", value, value, system="mip", voucher=voucher)
        for k, (value, voucher) in enumerate(
            [(7, Voucher.VERIFIED), (-5, Voucher.VERIFIED), (-3, Voucher.SOLVER)]
        )
    ]
    row = summarize(table(closed)).iloc[0]
    assert (row["rated"], row["unrated"], row["at_optimum"], row["certified"]) == (1, 2, 3, 3)
    assert (row["certified_verified"], row["certified_solver"], row["gap_worst"]) == (2, 1, 0)
    assert said(closed) == [
        "mip, highs: optimal on all 3 instances; highs closes the gap on 3 of 3 (2 verified, "
        "1 claimed by a solver)"
    ]


def test_open_gaps_are_said_where_ratios_mean_nothing():
    found = []
    for k in range(4):
        found.append(result(f"i{k}", "pump", objective=-4 - k, system="mip"))
        bound = -8 if k < 3 else -10
        found.append(result(f"i{k}", "highs", "exact", -8, bound, system="mip"))
    pump, highs = (row for _, row in summarize(table(found)).iterrows())
    assert (pump["at_optimum"], pump["certified"], pump["gap_worst"]) == (0, 3, 1)
    assert (highs["at_optimum"], highs["certified"], highs["gap_worst"]) == (3, 3, 0.25)
    assert said(found)[0] == (
        "mip, pump: gap at most 51.5% on half of 4 instances, worst gap 100.0%; never as good as "
        "the best method; highs closes the gap on 3 of 4 (all claimed by a solver)"
    )
    alone = [result("i", "pump", objective=-4, bound=-5, system="mip")]
    assert said(alone) == ["mip, pump: gap 25.0%; not certified"]
    unlimited = [result(f"i{k}", "pump", objective=-4, system="mip") for k in range(3)]
    assert said(unlimited) == [
        "mip, pump: no known dual bound limits the ratio on any of 3 instances"
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0%"), (1e-9, "0.1%"), (0.003, "0.3%"), (0.00301, "0.4%"), (math.inf, "?")],
)
def test_a_gap_is_rounded_up(value, text):
    assert gap(value) == text
