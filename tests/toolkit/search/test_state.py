"""The state of a search: better incumbents, tighter bounds, and when it is closed."""

from fractions import Fraction

import pytest

from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.data import Certificate, Solution
from gadgetopt.system.result import Limits, Status


class Nothing(Solution):
    pass


class Proof(Certificate):
    pass


def test_an_interrupt_ends_a_search_that_keeps_what_it_has():
    search = Search("min", Limits())
    with search.interruptible():
        search.offer(5, "first")
        search.prove(3)
        raise KeyboardInterrupt
    assert (search.best, search.bound, search.limit_hit) == ("first", 3, "interrupted")
    assert search.over
    with pytest.raises(ValueError, match="other"), search.interruptible():
        raise ValueError("other")


def test_a_search_whose_solver_was_interrupted_says_so_whatever_its_last_steps_said():
    search = Search("min", Limits(time_s=60.0))
    search.prove(3)
    Clock.interrupt_all()
    search.limit_hit = "time_s"
    assert search.over
    assert search.outcome(None).limit_hit == "interrupted"


@pytest.mark.parametrize(("sense", "worse", "better"), [("min", 5, 4), ("max", 4, 5)])
def test_only_better_incumbents_and_tighter_bounds_are_taken_over(sense, worse, better):
    search = Search(sense, Limits())
    assert search.offer(worse, "first")
    assert not search.offer(worse, "second")
    assert search.offer(better, "third")
    assert (search.value, search.best) == (better, "third")

    loose, tight = (1, 2) if sense == "min" else (9, 8)
    assert search.prove(loose)
    assert search.prove(tight, Proof())
    assert not search.prove(loose)
    assert search.bound == tight
    assert [(p.incumbent, p.bound) for p in search.trace] == [
        (worse, None),
        (better, None),
        (better, loose),
        (better, tight),
    ]


def test_a_certificate_stays_with_the_bound_it_proves():
    search, proof = Search("min", Limits()), Proof()
    search.prove(3, proof)
    search.prove(3)
    assert search.certificate is proof
    search.prove(4)
    assert search.certificate is None


@pytest.mark.parametrize("sense", ["min", "max"])
def test_exact_numbers_close_only_where_they_meet(sense):
    search = Search(sense, Limits(), gap=0.0)
    assert not search.closed
    search.offer(Fraction(1, 3), "third")
    assert not search.closed
    step = Fraction(1, 10**15) * (1 if sense == "max" else -1)
    search.prove(Fraction(1, 3) + step)
    assert not search.closed
    search.prove(Fraction(1, 3))
    assert search.closed


def test_the_gap_that_was_asked_for_closes():
    search = Search("max", Limits(rel_gap=0.1))
    search.offer(10.0, "ten")
    search.prove(11.5)
    assert not search.closed
    search.prove(11.0)
    assert search.closed


def test_a_bound_crosses_the_incumbent_only_if_it_is_refuted():
    search = Search("max", Limits())
    search.offer(1.0, "one")
    search.prove(1.0 - 1e-9)
    assert search.bound == 1.0
    search = Search("max", Limits())
    search.offer(1.0, "one")
    search.prove(0.5)
    assert search.bound == 0.5


def test_what_is_not_known_is_not_reported():
    outcome = Search("max", Limits(time_s=0.0)).outcome(None, rounds=2)
    assert outcome.claimed_objective is None
    assert outcome.dual_bound is None
    assert outcome.limit_hit == "time_s"
    assert outcome.notes == {"rounds": 2}


def test_a_closed_search_hit_no_limit():
    search = Search("min", Limits(time_s=0.0))
    search.offer(3, "three")
    search.prove(3, Proof())
    search.limit_hit = "interrupted"
    outcome = search.outcome(Nothing())
    assert outcome.limit_hit is None
    assert (outcome.claimed_objective, outcome.dual_bound) == (3, 3)
    assert isinstance(outcome.certificate, Proof)


def test_infeasibility_ends_a_search():
    search = Search("min", Limits())
    search.infeasible = True
    assert search.closed
    assert search.outcome(None).proved is Status.INFEASIBLE
