"""Searches for proofs about the models of formulations: of bounds, and that there is no optimum."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from gadgetopt.errors import ModelRefused, Unproved
from gadgetopt.numbers.tolerance import Number, simplest_rational
from gadgetopt.search.alarm import ended_after, late
from gadgetopt.search.steps import GROWTH, first_step_s
from gadgetopt.system.data import Certificate, ModelProof
from gadgetopt.system.declaration import Problem
from gadgetopt.system.files import Document
from gadgetopt.trust.certificate import bound_on_model, compiled_formulation
from gadgetopt.trust.proving import certificate_of, proof_notes

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model
    from gadgetopt.solvers.standard_form import StandardForm

#: Parts of what is left that a pseudo-Boolean proof may take at most, for its search and for making
#: its log a proof; how many times as long as its search the latter may take.
#: Tuned: `benchmarks/constants.py`.
SEARCH_PART, ELABORATION_PART, ELABORATION = 0.25, 0.5, 3
#: Seconds of which a process that starts in 0.06 may take its part; with less, it is not tried.
#: Tuned: `benchmarks/constants.py`.
WORTH_S = 0.25
#: Entries of a model that is made exact in a few milliseconds. Tuned: `benchmarks/proofs.py`.
SMALL = 2000


class Proved(NamedTuple):
    """A proof, the bound that its checker found, and what notes say of it."""

    certificate: Certificate
    bound: Number
    told: dict[str, Any]


def proofs_of(
    document: Document,
    name: str,
    target: Number,
    tell: Callable[[str], None],
    left_s: Callable[[], float],
    is_claimed: bool = False,
    is_waited_for: bool = False,
) -> Iterator[Proved | None]:
    """Yield proofs of a bound on one formulation, and None after each round of the search.

    The parameters are those of `proofs_of_form`.
    """
    tell(f"building {name}")
    with ended_after(late(max(0.0, left_s()))):
        form = compiled_formulation(document.problem, document.data, name)
    yield from proofs_of_form(
        document.problem, name, form, target, left_s, tell, is_claimed, is_waited_for
    )


def proofs_of_form(
    problem: Problem,
    name: str,
    form: StandardForm,
    target: Number,
    left_s: Callable[[], float],
    tell: Callable[[str], None] = lambda doing: None,
    is_claimed: bool = False,
    is_waited_for: bool = False,
) -> Iterator[Proved | None]:
    """Yield proofs of a bound on a compiled formulation, and None after each round.

    A round is a small tree, then one with cuts, then, where it may be tried, a pseudo-Boolean
    proof; all get more time in the next. Then comes a large tree.

    Parameters
    ----------
    target : Number
        The bound that is to be proved.
    is_claimed : bool
        Whether somebody claims the target, so that a better point refutes him.
    is_waited_for : bool
        Whether other searches are tried after each round.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C, after what was found by then has been yielded.
    Unproved
        If nothing could be proved.
    BetterPoint
        If a feasible point of the formulation refutes a claimed target.
    """
    from gadgetopt.proofs.exact_model import exact_model
    from gadgetopt.proofs.files import packed
    from gadgetopt.proofs.tree_producer import TreeProof, bounds_proof

    # Setting an alarm takes as long as making a small model exact.
    with ended_after(late(max(0.0, left_s()))) if form.A.nnz > SMALL else nullcontext():
        model = exact_model(form)
    least = model.least(simplest_rational(target))
    begin = time.perf_counter()
    if (text := bounds_proof(model, least)) is not None:
        certificate = certificate_of(name, model, packed(text.lines))
        yield _checked(problem, certificate, model, begin, {"leaves": text.leaves})
        return
    tree = TreeProof(form, model, least, left_s, is_claimed, is_waited_for=is_waited_for)
    step_s, boolean_s = first_step_s(tree.whole_s), 0.0
    while True:
        tell(f"growing trees on {name}")
        whole = tree.grow_plain(step_s) or tree.interrupted or tree.grow_cut(step_s)
        if whole or tree.interrupted:
            break
        if left_s() > WORTH_S and _may_be_boolean(model):
            started = time.perf_counter()
            tell(f"searching for a pseudo-Boolean proof on {name}")
            try:
                lines = _boolean_lines(model, least, step_s, left_s())
            except KeyboardInterrupt:
                lines, tree.interrupted = None, True
            if lines is not None:
                certificate = certificate_of(name, model, packed(lines), "pseudo_boolean")
                yield _checked(problem, certificate, model, started, {"steps": len(lines) - 1})
            boolean_s += time.perf_counter() - started
            if tree.interrupted or lines is not None:
                break
        yield None
        if tree.plain_s <= 0 or left_s() <= 0:
            break
        step_s *= GROWTH
    tell(f"growing a tree on {name}")
    if not whole and not tree.interrupted:
        tree.grow()
    tell(f"making and checking the proof on {name}")
    text = tree.text()
    if text is None:
        raise Unproved(f"no bound of {name} could be proved")
    certificate = certificate_of(name, model, packed(text.lines))
    yield _checked(problem, certificate, model, begin + boolean_s, {"leaves": text.leaves})
    if tree.interrupted:
        raise KeyboardInterrupt


def _boolean_lines(model: Model, least: Fraction, step_s: float, left_s: float) -> list[str] | None:
    """Return the lines of a pseudo-Boolean proof of a model's optimum; None if there is none."""
    from gadgetopt.proofs.pseudo_boolean.producer import prove

    search_s = min(step_s, SEARCH_PART * left_s)
    elaborate_s = min(ELABORATION * step_s, ELABORATION_PART * left_s)
    try:
        return prove(model, search_s, math.floor(least), elaborate_s)
    except ModelRefused:  # a column without a bound
        return None


def _may_be_boolean(model: Model) -> bool:
    """Return True if a pseudo-Boolean proof may be found here."""
    from gadgetopt.proofs.pseudo_boolean.producer import MOST_COLUMNS, is_installed

    return len(model.integer) <= MOST_COLUMNS and all(model.integer) and is_installed()


def _checked(
    problem: Problem, certificate: ModelProof, model: Model, begin: float, told: dict[str, Any]
) -> Proved:
    """Return a proof with the bound that its checker finds."""
    searched = time.perf_counter()
    proved = bound_on_model(problem, certificate, model)
    told = {
        **proof_notes(certificate, proved),
        **told,
        "prove_s": round(searched - begin, 3),
        "check_s": round(time.perf_counter() - searched, 3),
    }
    return Proved(certificate, proved, told)


def infeasibility_proofs(
    document: Document,
    name: str,
    tell: Callable[[str], None],
    left_s: Callable[[], float],
    is_claimed: bool = False,
) -> Iterator[Proved]:
    """Yield the proof that a formulation's model has no solution, if one is found.

    A `BetterPoint` is raised if somebody claims so and the search meets a feasible point.
    """
    from gadgetopt.proofs.files import packed
    from gadgetopt.proofs.tree_producer import infeasibility_proof

    begin = time.perf_counter()
    form, model = _exact_formulation(document, name, tell, left_s)
    tell(f"searching for a proof that {name} has no solution")
    text = infeasibility_proof(form, model, left_s, is_claimed)
    if text is None:
        raise Unproved(f"no proof that {name} has no solution was found")
    certificate = certificate_of(name, model, packed(text.lines))
    yield _checked(document.problem, certificate, model, begin, {"leaves": text.leaves})


def unboundedness_proofs(
    document: Document, name: str, tell: Callable[[str], None], left_s: Callable[[], float]
) -> Iterator[Proved]:
    """Yield the proof that a formulation's model is unbounded, if one is found."""
    from gadgetopt.proofs.exact_model import has_all_of
    from gadgetopt.proofs.files import packed
    from gadgetopt.proofs.rays import ray_proof

    begin = time.perf_counter()
    form, model = _exact_formulation(document, name, tell, left_s)
    tell(f"searching for a ray of {name}")
    lines = ray_proof(form, model, left_s) if has_all_of(model, form) else None
    if lines is None:
        raise Unproved(f"no proof that {name} is unbounded was found")
    yield _checked(
        document.problem, certificate_of(name, model, packed(lines), "ray"), model, begin, {}
    )


def _exact_formulation(
    document: Document, name: str, tell: Callable[[str], None], left_s: Callable[[], float]
) -> tuple[StandardForm, Model]:
    from gadgetopt.proofs.exact_model import exact_model

    tell(f"building {name}")
    with ended_after(late(max(0.0, left_s()))):
        form = compiled_formulation(document.problem, document.data, name)
        return form, exact_model(form)
