"""A DeepSpeed `PipelineModule` whose stages begin where a plan says: a small Python file.

`partition_method` has "parameters", "uniform" and "type:REGEX", and no list of cuts; so practice
overrides the method that sets `parts`. The file is read by its literal, never executed.
"""

from __future__ import annotations

import ast
from itertools import pairwise

from gadgetopt.errors import InputError
from gadgetopt.pieces.pipeline.plan import Plan

_TEXT = '''"""The stages of a plan: PlannedPipelineModule in place of DeepSpeed's PipelineModule."""

from deepspeed.pipe import PipelineModule

#: Stage n has the layers from PARTS[n] on, up to PARTS[n + 1].
PARTS = {parts}


class PlannedPipelineModule(PipelineModule):
    """A pipeline of {stages} stages, PipelineModule(num_stages={stages})."""

    def _partition_layers(self, method="uniform"):
        self.parts = list(PARTS)
        stage = self._topo.get_coord(self.global_rank).pipe
        self._set_bounds(start=self.parts[stage], stop=self.parts[stage + 1])
'''


def write_module(plan: Plan) -> str:
    """Return the file of a plan."""
    parts = [0, *(end for _, end in plan.stage_layers)]
    return _TEXT.format(parts=parts, stages=plan.num_stages)


def read_module(text: str) -> tuple[tuple[int, int], ...]:
    """Return the layers of each stage that a file says; nothing of it is executed.

    Raises
    ------
    InputError
        If it has no list PARTS of rising numbers, or says something else otherwise.
    """
    parts = _parts_in(text)
    if len(parts) < 2 or parts[0] != 0 or any(a >= b for a, b in pairwise(parts)):
        raise InputError(f"deepspeed: PARTS: {parts}, expected rising numbers from 0 on")
    if text != _TEXT.format(parts=parts, stages=len(parts) - 1):
        raise InputError("deepspeed: the file says more than PARTS, expected it as it was written")
    return tuple(pairwise(parts))


def _parts_in(text: str) -> list[int]:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []
    for line in body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "PARTS":
            if not isinstance(line.value, ast.List):
                break
            values = line.value.elts
            numbers = [v.value for v in values if isinstance(v, ast.Constant)]
            if len(numbers) == len(values) and all(type(n) is int for n in numbers):
                return [n for n in numbers if isinstance(n, int)]
    raise InputError("deepspeed: expected a Python file with PARTS = [0, ...], whole numbers")
