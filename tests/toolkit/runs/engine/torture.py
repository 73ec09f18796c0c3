"""A 0/1 knapsack with methods that damage their process in every possible way.

It is a problem of a third party: the tests' `torture` fixture installs it for this process and for
all that it starts. It imports nothing heavy, so that processes that die of it are soon replaced.
"""

import ctypes
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from gadgetopt.search.clock import Clock
from gadgetopt.system.data import (
    Instance,
    NonNegativeInt,
    PositiveInt,
    Solution,
)
from gadgetopt.system.declaration import (
    Citation,
    Guarantee,
    Method,
    Problem,
)
from gadgetopt.system.result import Evaluation, MethodOutcome, Violation


class Pile(Instance):
    capacity: NonNegativeInt
    weight: tuple[PositiveInt, ...]
    value: tuple[PositiveInt, ...]


class Choice(Solution):
    chosen: tuple[NonNegativeInt, ...]


def evaluate(pile, solution):
    excess = sum(pile.weight[i] for i in solution.chosen) - pile.capacity
    violations = (Violation("capacity", "pile", excess),) if excess > 0 else ()
    return Evaluation(sum(pile.value[i] for i in solution.chosen), violations)


# -- healthy methods -------------------------------------------------------------------------------


def filled(pile, order):
    """Take items in an order as long as they fit."""
    chosen, room = [], pile.capacity
    for i in order:
        if pile.weight[i] <= room:
            chosen.append(i)
            room -= pile.weight[i]
    return Choice(chosen=tuple(sorted(chosen)))


def greedy(pile, limits, rng):
    items = range(len(pile.value))
    order = sorted(items, key=lambda i: pile.value[i] / pile.weight[i], reverse=True)
    return MethodOutcome(solution=filled(pile, order))


def shuffled(pile, limits, rng, *, pause_s=0.0):
    time.sleep(pause_s)
    return MethodOutcome(solution=filled(pile, rng.permutation(len(pile.value)).tolist()))


def exact(pile, limits, rng):
    items = range(len(pile.value))
    subsets = itertools.chain.from_iterable(itertools.combinations(items, k) for k in range(9))
    fitting = (c for c in (Choice(chosen=s) for s in subsets) if evaluate(pile, c).feasible)
    best = max(fitting, key=lambda c: evaluate(pile, c).objective)
    return MethodOutcome(solution=best, dual_bound=evaluate(pile, best).objective)


# -- the others ------------------------------------------------------------------------------------


def segfaults(pile, limits, rng):
    ctypes.string_at(0)


def aborts(pile, limits, rng):
    os.write(2, b"\n\nthe matrix is singular\n")
    os.abort()


def leaves(pile, limits, rng):
    os._exit(3)


def exits(pile, limits, rng):
    sys.exit("that is enough")


def is_killed(pile, limits, rng):
    os.kill(os.getpid(), signal.SIGKILL)


def closes_everything(pile, limits, rng):
    os.closerange(0, 1000)
    return greedy(pile, limits, rng)


def forks(pile, limits, rng):
    os.fork()
    return greedy(pile, limits, rng)


def crashes_once(pile, limits, rng, *, mark=""):
    if not Path(mark).exists():
        Path(mark).touch()
        os.abort()
    return greedy(pile, limits, rng)


def leaves_a_child(pile, limits, rng, *, mark=""):
    child = subprocess.Popen(["sleep", "1000"], stderr=subprocess.DEVNULL)
    with Path(mark).open("a") as file:
        file.write(f"{child.pid}\n")
    os.abort()


def sleeps(pile, limits, rng):
    time.sleep(1000)


def sleeps_deaf(pile, limits, rng):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    time.sleep(1000)


def sleeps_on_the_lock(pile, limits, rng):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    ctypes.PyDLL(None).sleep(1000)  # does not let go of the interpreter


def hands_over(pile, limits, rng):
    try:
        time.sleep(1000)
    except KeyboardInterrupt:
        return MethodOutcome(solution=Choice(chosen=(0,)), limit_hit="interrupted")


def hands_over_aloud(pile, limits, rng):
    try:
        print("at work", flush=True)
        time.sleep(1000)
    except KeyboardInterrupt:
        return MethodOutcome(solution=Choice(chosen=(0,)), limit_hit="interrupted")


def watches_its_clock(pile, limits, rng):
    """Knows nothing of Ctrl-C."""
    clock = Clock()
    print("at work", flush=True)
    while not clock.expired:
        time.sleep(0.01)
    return MethodOutcome(solution=Choice(chosen=(0,)), limit_hit="time_s")


def is_deaf_aloud(pile, limits, rng):
    print("at work", flush=True)
    while True:
        try:
            time.sleep(1000)
        except KeyboardInterrupt:
            print("not now", flush=True)


def eats_memory(pile, limits, rng):
    eaten = []
    while True:
        eaten.append(bytearray(os.urandom(1)) * 20_000_000)


def raises(pile, limits, rng):
    raise RuntimeError("two\nlines, and \ud800")


def recurses(pile, limits, rng):
    return recurses(pile, limits, rng)


def prints(pile, limits, rng):
    for _ in range(1000):
        print("garbage " * 100)
        os.write(1, b"\x00\x00\x00\x00\x00\x00\x00\x05trash")
        os.write(2, b"more of it " * 100)
    return greedy(pile, limits, rng)


def too_much(pile, limits, rng):
    return MethodOutcome(solution=Choice(chosen=tuple(range(len(pile.value)))))


def answers_in_prose(pile, limits, rng):
    return "all of them"


def solves_in_prose(pile, limits, rng):
    return MethodOutcome(solution="all of them")


def notes_what_cannot_be_written(pile, limits, rng):
    return MethodOutcome(notes={"why": object(), "also": {1, 2}}, limit_hit=["time_s"])


def boasts(pile, limits, rng):
    return MethodOutcome(solution=Choice(chosen=()), dual_bound="enormous")


# -- checks ----------------------------------------------------------------------------------------


def checks_for_ever():
    time.sleep(1000)


def checks_with_all_memory():
    eats_memory(None, None, None)


def crashes_the_check():
    ctypes.string_at(0)


def fails_to_check():
    raise RuntimeError("two\nlines, and \ud800")


def method(run, kind="heuristic", name=None, **more):
    return Method(name or run.__name__, kind=kind, summary="-", reference="test", run=run, **more)


PROBLEM = Problem(
    name="torture",
    title="0/1 knapsack under torture",
    citation=Citation("nobody", "none", "test", 2026),
    sense="max",
    objective="value",
    integral_objective=True,
    instance_type=Pile,
    solution_type=Choice,
    evaluate=evaluate,
    size=lambda pile: {"items": len(pile.weight)},
    methods=(
        method(greedy),
        method(shuffled, stochastic=True, parameters={"pause_s": 0.0}),
        method(exact, "exact"),
        method(crashes_once, parameters={"mark": ""}),
        method(leaves_a_child, parameters={"mark": ""}),
        *map(
            method,
            (
                segfaults, aborts, leaves, exits, is_killed, closes_everything, forks, sleeps,
                sleeps_deaf, sleeps_on_the_lock, hands_over, eats_memory, raises, recurses, prints,
                hands_over_aloud, watches_its_clock, is_deaf_aloud, too_much, answers_in_prose,
                solves_in_prose, notes_what_cannot_be_written, boasts,
            ),
        ),
    ),
    guarantees=(
        Guarantee(
            "two", statement="2", reference="-", standing="claimed", methods=("greedy",),
            ratio=lambda pile, p: 2,
        ),
    ),
    default_method="greedy",
    default_methods=("greedy", "exact"),
)  # fmt: skip
