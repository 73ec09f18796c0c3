"""Work of a search for a proof, counted: what it has done is the same in every run, its time not.

Steps of a search end by its work. The clock alone says when all of it has to end.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Seconds of a solve of a relaxation, of an iteration in it, and of each entry of it there.
#: Tuned: `benchmarks/any_model.py`.
SOLVE_S, ITERATION_S, ENTRY_S = 300e-6, 30e-6, 10e-9
#: The same of a node of a tree and each entry of its rows, of a sum of rows that is rounded and
#: each term of it, and of a row of the tableau and each entry of the rows.
#: Tuned: `benchmarks/any_model.py`.
NODE_S, NODE_ENTRY_S = 300e-6, 100e-9
#: The same of a line of a split that propagation makes. Tuned: `benchmarks/proofs.py`.
PROPAGATED_S = 20e-6
SUM_S, TERM_S = 20e-6, 4e-6
TABLEAU_S, TABLEAU_ENTRY_S = 200e-6, 100e-9


@dataclass
class Work:
    """What a search has done.

    Attributes
    ----------
    seconds : float
        What it may have taken.
    """

    seconds: float = 0.0

    def solve(self, iterations: int, entries: int) -> None:
        """Count a solve of a relaxation."""
        self.seconds += SOLVE_S + max(0, iterations) * (ITERATION_S + entries * ENTRY_S)

    def node(self, entries: int) -> None:
        """Count a node of a tree."""
        self.seconds += NODE_S + entries * NODE_ENTRY_S

    def propagated(self) -> None:
        """Count a line of a tree that needs no relaxation."""
        self.seconds += PROPAGATED_S

    def sum(self, terms: int) -> None:
        """Count a sum of rows that is rounded."""
        self.seconds += SUM_S + terms * TERM_S

    def tableau(self, entries: int) -> None:
        """Count a row of the tableau of which a cut is made."""
        self.seconds += TABLEAU_S + entries * TABLEAU_ENTRY_S
