"""What follows from an entry's instance and numbers, and is therefore checked, not believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gadgetopt.numbers.tolerance import Number, closes
from gadgetopt.records.record import Drawn, Shipped
from gadgetopt.system.declaration import Citation, Problem
from gadgetopt.system.files import Document
from gadgetopt.system.result import Status
from gadgetopt.trust.infeasibility import beyond_limit, status_of
from gadgetopt.trust.judgement import relative_gap

#: The terms of instances that are drawn by a preset, and of those of the instance library whose
#: origin names no other.
LICENCE = "MIT"


def of_instance(document: Document[Any], where: Drawn | Shipped) -> dict[str, Any]:
    """Return the fields of an entry that follow from its instance."""
    system = document.problem
    return {
        "problem": system.name,
        "problem_class": tuple(sorted({f.model_class for f in system.formulations})),
        "sense": document.sense,
        "sizes": dict(system.size(document.data)),
        "fingerprint": document.fingerprint,
        "source": _source(document.origin, where),
        "licence": str(document.origin.get("licence") or LICENCE),
        "reference": cited(system.citation),
    }


def _source(origin: Mapping[str, Any], where: Drawn | Shipped) -> str:
    if isinstance(where, Drawn):
        return f"drawn by gadgetopt, preset {where.preset}"
    note = str(origin.get("note") or origin.get("source") or "")
    line = " ".join(note.split())
    line = line if len(line) <= 300 else f"{line[:297]}..."
    return f"gadgetopt, instances/{where.file}" + (f": {line}" if line else "")


def cited(citation: Citation) -> str:
    """Return a publication in a line."""
    where = f"doi:{citation.doi}" if citation.doi else f"arXiv:{citation.arxiv}"
    told = f"{citation.authors}: {citation.title}. {citation.venue} {citation.year}"
    return f"{told}, {where}" if citation.doi or citation.arxiv else told


def of_numbers(
    document: Document[Any], objective: Number | None, bound: Number | None
) -> dict[str, Any]:
    """Return status and gap, as they follow from the best objective and the best bound."""
    system = document.problem
    if objective is None and is_hopeless(document, bound):
        return {"status": "infeasible", "gap": None}
    gap = relative_gap(objective, bound)
    met = (
        objective is not None
        and bound is not None
        and closes(objective, bound, integral=system.integral_objective)
    )
    return {"status": "closed" if met else "open", "gap": gap}


def is_hopeless(document: Document[Any], bound: Number | None) -> bool:
    """Return True if a proved bound shows that there is no solution."""
    if bound is None:
        return False
    if status_of(bound, document.sense) is Status.INFEASIBLE:
        return True
    return bool(beyond_limit(document.problem, document, bound))


def is_better(system: Problem, a: Number, b: Number | None) -> bool:
    """Return True if an objective is better than another, or than none."""
    return b is None or (a < b if system.sense == "min" else a > b)


def is_tighter(system: Problem, a: Number, b: Number | None) -> bool:
    """Return True if a bound is tighter than another, or than none."""
    return b is None or (a > b if system.sense == "min" else a < b)
