"""Sentences say what the table says, and nothing rounded in favour of a method."""

import re

import pytest

from gadgetopt.numbers.tolerance import as_double
from gadgetopt.reporting.cells import share
from gadgetopt.reporting.sentences import certified, failures, findings, headline
from gadgetopt.reporting.summary import summarize
from gadgetopt.system.result import Status, Voucher
from gadgetopt.trust.theorems import Promise

from .entries_of import result, study, table


def said(results, promises=()):
    return headline(summarize(table(results, promises)))


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
    assert "no dual bound tells how near to the optimum, ratio at least 1.200 on half of 2" in text
    assert "worst ratio at least 1.200" in text
    assert text.endswith("never as good as the best method; 0 of 2 ratios are certified")


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
        "1 run refutes a claimed theorem: own 1"
    ]


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
    assert headline(summarize([])) == []
    lines = said([result("i", "own", "approximation", status=Status.ERROR, reason="x")])
    assert lines == ["sjf_bco: no method found a solution", "1 of 1 run failed: own 1"]
