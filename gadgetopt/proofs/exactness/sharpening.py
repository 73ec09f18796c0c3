"""Proofs whose bound is the optimum itself, where that of rounded duals is a little below it.

A tree closes a leaf that is within tolerance of its target, with duals of few binary digits. Where
the optimum is no such number, as 14/3, the bound then differs from it in the last digits. Leaves
that miss the target are made anew here: the relaxation of each is solved in rational numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from gadgetopt.errors import ModelRefused
from gadgetopt.proofs.exactness.sections import sections, with_cut, with_proved
from gadgetopt.proofs.model import Row
from gadgetopt.proofs.named_form import form_of
from gadgetopt.proofs.relaxation import Relaxation
from gadgetopt.proofs.tree_kernel import Box, Rejected, divisor_of, leaf_bound, proved, tree_of
from gadgetopt.proofs.tree_search import TreeSearch

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model


def sharpened(
    model: Model, proof: Sequence[str], target: Fraction, left_s: Callable[[], float]
) -> list[str] | None:
    """Return a proof of a target that an accepted proof misses by little; None if there is none.

    Parameters
    ----------
    target : Fraction
        A `sum(costs * x)`, that of a feasible point.
    left_s : callable
        Returns the seconds that are left.
    """
    kept: list[str] = []
    now = model
    for section in sections(proof):
        kept.append(section.head)
        if section.kind == "cut":
            now = with_cut(now, section)
        elif section.kind == "tree":
            lines = _sharp_tree(now, section.lines, target, left_s)
            if lines is None:
                return None
            kept += lines
        else:
            now, _ = with_proved(now, section)
            kept += section.lines
    return kept if proved(model, kept) == target else None


def _sharp_tree(
    model: Model, lines: Sequence[str], target: Fraction, left_s: Callable[[], float]
) -> list[str] | None:
    """Return a tree each of whose leaves proves the target; None if one of them does not."""
    box, out = Box(model, list(model.rows)), list[str]()

    def noted() -> Iterator[str]:
        for line in lines:
            out.append(line)
            yield line

    def leaf(words: Sequence[str]) -> Fraction | None:
        bound = _bound(box, model, words)
        if bound is not None and bound < target:
            out[-1:] = _subtree(box, model, target, left_s)
        return bound

    try:
        tree_of(noted(), box, leaf)
    except (Rejected, ModelRefused):  # such as a lemma with coefficients too small for HiGHS
        return None
    return out


def _bound(box: Box, model: Model, words: Sequence[str]) -> Fraction | None:
    end = words.index("|") if "|" in words else len(words)
    q, *pairs = map(int, words[1:end])
    rest = list(map(int, words[end + 1 :]))
    return leaf_bound(box, model.costs, divisor_of(words[0]), q, pairs, rest)


def _subtree(
    box: Box, model: Model, target: Fraction, left_s: Callable[[], float]
) -> Iterator[str]:
    """Yield the lines of a tree that proves the target at a node; mostly it is one exact leaf."""
    rows = [Row(list(row[0]), list(row[1]), *row[2:]) for row in (*box.rows, *box.splits)]
    at_node = model._replace(lower=box.lower, upper=box.upper, rows=rows)
    columns = range(len(model.integer))
    form = form_of(at_node, [f"x{j}" for j in columns], [f"r{i}" for i in range(len(rows))])
    tree = TreeSearch(at_node, Relaxation(form, left_s), target)
    if not tree.run(lambda: left_s() > 0) or not tree.lines or tree.need < target:
        raise Rejected("the tree of a leaf is below the target")
    for line in tree.text().lines[1:]:
        yield _at_node(line.split(), rows, len(box.rows), len(box.splits))


def _at_node(words: list[str], rows: Sequence[Row], first: int, splits: int) -> str:
    """Return a line of a tree of its own where rows from the first on are splits of its path."""
    kind = words[0]
    if kind == "g" and int(words[1]) >= first:
        columns, coefficients, *_ = rows[int(words[1])]
        form = [x for pair in zip(columns, coefficients, strict=True) for x in pair]
        return " ".join(map(str, ["s", words[2], *form]))
    if kind != "l":
        return " ".join(words)
    end = words.index("|") if "|" in words else len(words)
    pairs = list(zip(words[3:end:2], words[4:end:2], strict=True))
    of_rows = [x for i, y in pairs if int(i) < first for x in (i, y)]
    of_splits = [x for i, y in pairs if int(i) >= first for x in (str(int(i) - first), y)]
    for t, y in zip(words[end + 1 :: 2], words[end + 2 :: 2], strict=True):
        of_splits += [str(int(t) + splits), y]
    return " ".join([*words[:3], *of_rows, *(["|", *of_splits] if of_splits else [])])
