"""What importers return: named instances, and an account of every row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gadgetopt.system.data import Instance


@dataclass(frozen=True)
class ImportOutcome:
    """Result of an importer.

    Attributes
    ----------
    instances : list of (str, Instance)
        Named instances.
    report : dict
        Counts of rows read, rejected, left out and used; and the conversion of units.
    origin : dict
        Format, files with their SHA-256, and options: the origin in the instances' files.
    origin_of : mapping
        Further entries in the origin of one instance, by its name.
    """

    instances: list[tuple[str, Instance]]
    report: dict[str, Any]
    origin: dict[str, Any]
    origin_of: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def drawn_name(stem: str, rng: np.random.Generator, index: int) -> str:
    """Return the name of an instance drawn from data, with the seed of `rng` and the index."""
    seeds: Any = rng.bit_generator.seed_seq
    return f"{stem}_s{seeds.entropy}_{index}"
