"""Proofs of the bounds of formulations: seconds, leaves, size and verdict beside plain HiGHS.

No study measures proofs of models: their size, and what reading them takes.

    python benchmarks/proofs.py [--methods | --runs] [--within 10] [--time 60] [--most S]
                                [--repeat 3] PATH...

Each linear formulation of each instance is solved by HiGHS, then its bound is proved, by a tree and
where the extra `prove` is installed by a pseudo-Boolean proof, in at most `--within` times as long
(at least `--least` seconds, at most `--most`). A model that is not built in `--build` seconds, or
has no columns, is left out. With `--methods`, the exact ones among the system's default methods are
run and proved instead; with `--runs`, each linear formulation with HiGHS as a user runs it, and as
`--certify` proves it: a run builds and compiles its model, evaluates its solution and proves its
root by itself, and so does the proof build its model anew. All times are processor seconds, those
of started processes included, and limits count them, too; what a method imports, and machine code
of inner loops, which are got once, do not count. What takes less than a tenth of a second is done
`--repeat` times, HiGHS and proof alike, and the least time of each counts: on a machine at work, a
millisecond is now one and then two.

    python benchmarks/proofs.py --stream 100

checks a proof of so many megabytes in a process of its own and prints its leaves a second and the
memory that the process took at most.
"""

from __future__ import annotations

import argparse
import gc
import math
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple, TypeVar

from pyomo.environ import Binary, ConcreteModel, Constraint, Objective, Var, maximize

import gadgetopt.proofs
from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.compiling import compiling_s
from gadgetopt.numbers.tolerance import Number, closes
from gadgetopt.proofs import tree_producer
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.files import packed
from gadgetopt.proofs.model import Model, Row, lines
from gadgetopt.search import alarm
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import StandardForm, compile_model
from gadgetopt.system.declaration import Problem
from gadgetopt.system.files import Document, find_instances, read_instance
from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Limits, Result, Status, Voucher
from gadgetopt.trust.certifying import certify
from gadgetopt.trust.run import solve
from gadgetopt.trust.run import warm_up as import_for
from gadgetopt.trust.searches import Proved, proofs_of_form


def main() -> None:
    """Print a row for each formulation that HiGHS closes, and the shares that are proved."""
    options = argparse.ArgumentParser()
    options.add_argument("paths", nargs="*")
    options.add_argument("--stream", type=int, metavar="MB")
    options.add_argument("--methods", action="store_true")
    options.add_argument("--runs", action="store_true")
    options.add_argument("--within", type=float, default=10.0)
    options.add_argument("--least", type=float, default=0.0)
    options.add_argument("--most", type=float, default=math.inf)
    options.add_argument("--time", type=float, default=60.0)
    options.add_argument("--build", type=int, default=120)
    options.add_argument("--repeat", type=int, default=3)
    asked = options.parse_args()
    if asked.stream is not None:
        check_large(asked.stream)
        return
    if not asked.paths:
        options.error("expected instance files or folders, or --stream MB")
    print(
        "| instance | formulation | rows x columns | HiGHS s | proof s | leaves | steps | kB "
        "| check s | |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    verdicts: list[Verdict] = []
    count_processor_seconds()
    warm_up()
    for path in find_instances(asked.paths):
        document = read_instance(path)
        if asked.methods or asked.runs:
            system = document.problem
            for method in default_exact(system) if asked.methods else with_highs(system):
                verdicts += run_and_proved(document, method, asked)
            continue
        for formulation in document.problem.formulations:
            if formulation.model_class not in ("ILP", "MILP"):
                continue
            try:
                with at_most(asked.build):
                    form = compile_model(formulation.build(document.data))
            except (ModelRefused, InputError, TriviallyInfeasibleError):
                continue
            except TimeoutError:
                name = f"{document.problem.name}/{document.name}"
                print(f"| {name} | {formulation.name} | not built", flush=True)
                continue
            if form.columns:  # else nothing is left for HiGHS to solve
                verdicts += measured(document, formulation.name, form, asked)
    if verdicts:
        runs = asked.methods or asked.runs
        solver = "the run" if runs else "HiGHS"
        what = "runs that close" if runs else "models that HiGHS closes"
        print(f"\n{len(verdicts)} {what}:")
        for least in sorted({0.0, asked.least}):
            for times in sorted({1.0, asked.within}):
                allowed = f"{times:g} x {solver}" + (f" or {least:g} s" if least else "")
                within = sum(v.within(times, least) for v in verdicts)
                print(f"- within {allowed}: {within} proved ({within / len(verdicts):.1%})")


class Verdict(NamedTuple):
    """Seconds of HiGHS and of a proof that reaches its optimum (infinite if none does)."""

    solver_s: float
    proof_s: float

    def within(self, times: float, least_s: float) -> bool:
        """Return True if the proof took at most so many times as long, or so many seconds."""
        return self.proof_s <= max(times * self.solver_s, least_s)


#: What takes longer is measured once.
SHORT_S = 0.1
#: Seconds for which a count of processor seconds is not read again.
UNREAD_S = 1e-4

Timed = TypeVar("Timed")


def least_time(
    once: Callable[[], tuple[Timed, float]],
    repeat: int,
    is_whole: Callable[[Timed], bool] = lambda found: True,
) -> tuple[Timed, float]:
    """Return what a call gives and its seconds; if they are few, those of the fastest of some.

    A call whose result is not whole is made again, too: the solver's own limit counts seconds of
    the clock, and may end it on a machine at work. What rows before it left is no garbage of its.
    """
    runs = list[tuple[Timed, float]]()
    while not runs or (
        len(runs) < repeat and (runs[-1][1] <= SHORT_S or not is_whole(runs[-1][0]))
    ):
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        runs.append(once())
    return min(runs, key=lambda run: (not is_whole(run[0]), run[1]))


def measured(
    document: Document, name: str, form: StandardForm, asked: argparse.Namespace
) -> list[Verdict]:
    """Print a row and return its verdict; nothing if HiGHS does not close the model."""

    def solved() -> tuple[SolverOutcome, float]:
        begin = processor_s()
        outcome = solve_form(form, Limits(time_s=asked.time))
        return outcome, processor_s() - begin

    try:
        outcome, solver_s = least_time(solved, asked.repeat)
    except ModelRefused:
        return []
    if outcome.status is not Status.OPTIMAL or outcome.objective is None:
        return []
    problem, target = document.problem, outcome.objective

    def proved() -> tuple[tuple[Proved | None, bool], float]:
        begin = processor_s()
        best, is_whole = best_proof(document, name, form, target, allowed_s(asked, solver_s))
        return (best, is_whole), processor_s() - begin

    # Where HiGHS takes long, so may a proof that fails: once is enough.
    repeat = asked.repeat if solver_s <= SHORT_S else 1
    (best, is_whole), proof_s = least_time(proved, repeat, lambda found: found[1])
    told = best.told if best is not None else {}
    verdict = "v" if is_whole else f"{float(best.bound):.6g}" if best else "none"
    print(
        f"| {problem.name}/{document.name} | {name} | {'x'.join(map(str, form.A.shape))} "
        f"| {solver_s:.4f} | {proof_s:.4f} "
        f"| {told.get('leaves', '')} | {told.get('steps', '')} "
        f"| {told.get('bytes', 0) / 1000:.1f} | {told.get('check_s', 0):.2f} | {verdict} |",
        flush=True,
    )
    return [Verdict(solver_s, proof_s if is_whole else math.inf)]


def best_proof(
    document: Document, name: str, form: StandardForm, target: Number, seconds: float
) -> tuple[Proved | None, bool]:
    """Return the best proof of a bound that is found in some seconds, and whether it closes."""
    problem, best = document.problem, None
    left_s = processor_seconds_left(seconds)
    with suppress(ValueError, ModelRefused, KeyboardInterrupt):
        for found in proofs_of_form(problem, name, form, target, left_s):
            if found is None:  # the end of a round
                continue
            if best is None or abs(float(found.bound) - target) < abs(float(best.bound) - target):
                best = found
            if closes(target, best.bound, integral=problem.integral_objective):
                return best, True
    return best, False


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` in what takes longer."""

    def expired(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, expired)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def allowed_s(asked: argparse.Namespace, solver_s: float) -> float:
    """Return the seconds that a proof may take."""
    return float(min(asked.most, max(asked.least, asked.within * solver_s)))


def warm_up() -> None:
    """Prove a small model, so that no instance pays for what is imported where it is first used."""
    model = ConcreteModel()
    model.x = Var(range(4), domain=Binary)
    model.row = Constraint(expr=sum((j + 2) * model.x[j] for j in model.x) <= 7)
    model.profit = Objective(expr=sum((2 * j + 3) * model.x[j] for j in model.x), sense=maximize)
    form = compile_model(model)
    tree_producer.tree_proof(form, exact_model(form), Fraction(-99), lambda: 1.0)


def default_exact(system: Problem) -> list[str]:
    """Return the exact methods among a system's default ones, the default first."""
    exact = {method.name for method in system.methods if method.kind == "exact"}
    asked = dict.fromkeys([system.default_method, *system.default_methods])
    return [name for name in asked if name.partition(":")[0] in exact]


def with_highs(system: Problem) -> list[str]:
    """Return the methods that solve a system's linear formulations over integers by HiGHS."""
    linear = [f for f in system.formulations if f.model_class in ("ILP", "MILP")]
    return [f"{f.name}@highs" for f in linear if f.strength != "restriction"]


def run_and_proved(document: Document, method: str, asked: argparse.Namespace) -> list[Verdict]:
    """Print a row of a method and return its verdict; nothing if a limit ended it, or it failed."""
    for name in (method, *default_exact(document.problem)):  # a proof may ask them all
        import_for(document.problem, find_method(document.problem, name).method)

    def solved() -> tuple[Result, float]:
        begin = own_s()
        result = solve(document, method, limits=Limits(time_s=asked.time))
        return result, own_s() - begin

    result, solver_s = least_time(solved, asked.repeat)
    is_relaxed = asked.runs and result.bound is not None and result.limit_hit is None
    if result.status is not Status.OPTIMAL and not is_relaxed:
        return []

    def proved() -> tuple[Result, float]:
        begin = own_s()
        out = result
        if out.bound_voucher is not Voucher.VERIFIED:
            out = certify(document, out, allowed_s(asked, solver_s))
        return out, own_s() - begin

    repeat = asked.repeat if solver_s <= SHORT_S else 1
    result, proof_s = least_time(proved, repeat, lambda out: out.bound_voucher is Voucher.VERIFIED)
    is_whole = result.bound_voucher is Voucher.VERIFIED
    told = result.notes.get("proof", {}) if isinstance(result.notes.get("proof"), dict) else {}
    print(
        f"| {document.problem.name}/{document.name} | {method} | | {solver_s:.4f} "
        f"| {proof_s:.4f} | {told.get('leaves', '')} | {told.get('steps', '')} "
        f"| {told.get('bytes', 0) / 1000:.1f} | {told.get('check_s', 0):.2f} "
        f"| {'v' if is_whole else told.get('bound', 'none')} |",
        flush=True,
    )
    return [Verdict(solver_s, proof_s if is_whole else math.inf)]


def count_processor_seconds() -> None:
    """Let all clocks count processor seconds, for limits that mean the same on a machine at work.

    The alarm, which counts seconds of the clock, would end what waits for the processor.
    """
    time.perf_counter = processor_s
    alarm.LATE_S = 3600.0


def processor_s() -> float:
    """Return the processor seconds of this process and of those that it has waited for."""
    # The counts of `os.times` are hundredths of a second, longer than a small model takes.
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def own_s() -> float:
    """Return the processor seconds without those for the machine code of inner loops."""
    return processor_s() - compiling_s()


def processor_seconds_left(seconds: float) -> Callable[[], float]:
    """Return a function that counts processor seconds down, for limits on a machine at work.

    Reading them takes microseconds, and sometimes much longer. It reads them where they may have
    changed by `UNREAD_S`: one process uses no more of them than seconds pass.
    """
    end, left_s, read = processor_s() + seconds, seconds, time.monotonic()

    def count() -> float:
        nonlocal left_s, read
        now = time.monotonic()
        if now - read > UNREAD_S:
            left_s, read = end - processor_s(), now
        return left_s

    return count


#: Rows of the model of a large proof, and columns of each, of which one has to be 1.
ROWS, COLUMNS = 12, 3

CHECK = """
import sys, time
sys.path.insert(0, sys.argv[1])
from files import unpacked
from model import parsed
from tree_kernel import proved

model, text = parsed(open(sys.argv[2])), open(sys.argv[3]).read()
begin = time.process_time()
print(model.bound(proved(model, unpacked(text))), time.process_time() - begin)
status = open("/proc/self/status").read().split()
print(int(status[status.index("VmHWM:") + 1]) / 1024)
"""


def check_large(megabytes: int) -> None:
    """Write a proof of a size, have it checked by plain Python, and print what that took."""
    some = [list(range(k, k + COLUMNS)) for k in range(0, ROWS * COLUMNS, COLUMNS)]
    rows = [Row(columns, [1] * COLUMNS, 1, None, 1) for columns in some]
    n = ROWS * COLUMNS
    costs = list(range(n)), [1] * n
    model = Model([True] * n, [0] * n, [1] * n, rows, costs, 1, 0, "min")
    # Duals of 1: each leaf proves the optimum.
    leaf = "l 20 1 " + " ".join(f"{i} {2**20}" for i in range(ROWS))
    depth = round(math.log2(megabytes * 1e6 / len(leaf)))
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, name)) for name in ("model.txt", "proof.txt")]
        Path(files[0]).write_text("".join(f"{line}\n" for line in lines(model)))
        Path(files[1]).write_text(packed(["tree", *complete_tree(depth, leaf)]))
        run = [sys.executable, "-I", "-S", "-c", CHECK, str(Path(gadgetopt.proofs.__file__).parent)]
        told = subprocess.run([*run, *files], capture_output=True, text=True, check=True)
    bound, seconds, memory_mb = told.stdout.split()
    size_mb = sum(len(line) + 1 for line in complete_tree(depth, leaf)) / 1e6
    print(
        f"{size_mb:.0f} MB, {2**depth:,} leaves: bound {bound} in {float(seconds):.1f} s, "
        f"{2**depth / float(seconds):,.0f} leaves a second, {float(memory_mb):.0f} MB of memory"
    )


def complete_tree(depth: int, leaf: str) -> Iterator[str]:
    """Yield the lines of a tree that splits the first columns one after the other."""
    ahead = [0]
    while ahead:
        level = ahead.pop()
        if level == depth:
            yield leaf
        else:
            yield f"b {level} 0"
            ahead += [level + 1, level + 1]


if __name__ == "__main__":
    main()
