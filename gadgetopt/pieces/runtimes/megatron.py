"""Megatron's `--pipeline-model-parallel-layout`: which layers each stage holds.

The text is split at `|` into stages, in the order of the model: stage `v * PP + p` is virtual stage
v of rank p. In a stage E is the embedding, t a decoder layer, m a layer of multi-token prediction,
L the loss; `t*3` is ttt, `(tt|)*2` is tt|tt|, commas mean nothing. The first letter is E, the last
L, each once; a stage may be empty; m follow all t, in one last stage that is not on rank 0.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise

from gadgetopt.errors import InputError
from gadgetopt.pieces.pipeline.plan import Plan

#: Letters that a layout may unroll to, far beyond any model. By definition.
_MOST_LETTERS = 100_000

_GROUP = re.compile(r"\(([^()]*)\)\*(\d{1,6})", re.ASCII)
_LETTER = re.compile(r"([A-Za-z|])\*(\d{1,6})", re.ASCII)

_SIZE, _LAYOUT = "--pipeline-model-parallel-size", "--pipeline-model-parallel-layout"


def layout_of(decoder_layers: Sequence[int]) -> str:
    """Return the layout of stages with so many decoder layers, shortest.

    Examples
    --------
    >>> layout_of([2, 3, 1, 0])
    'Et*2|t*3|t|L'
    """
    middle = ["" if k == 0 else "t" if k == 1 else f"t*{k}" for k in decoder_layers]
    return f"E{'|'.join(middle)}L"


def read_layout(text: str, ranks: int) -> list[str]:
    """Return the letters of each stage of a layout for so many pipeline ranks.

    Raises
    ------
    InputError
        If it breaks a rule of the grammar; the line says which.

    Examples
    --------
    >>> read_layout("Et*2|(t|)*2,L", 2)
    ['Ett', 't', 't', 'L']
    """
    stages = _unrolled(text).split("|")
    letters = "".join(stages)
    if ranks < 1 or len(stages) % ranks:
        raise InputError(
            f"megatron: layout of {len(stages)} stages, expected a multiple of {ranks} ranks"
        )
    for letter, name in (("E", "embedding, first"), ("L", "loss, last")):
        if letters.count(letter) != 1:
            raise InputError(
                f"megatron: layout: {letter} is there {letters.count(letter)} times, "
                f"expected one: the {name}"
            )
    if letters[0] != "E" or letters[-1] != "L":
        raise InputError(f"megatron: layout {text!r}: expected E first and L last")
    _check_prediction(stages, ranks)
    return stages


def _unrolled(text: str) -> str:
    """Return a layout without commas and repetitions: groups first, then single letters."""
    flat = text.replace(",", "")
    for pattern in (_GROUP, _LETTER):
        size = len(flat) + sum(len(m[1]) * int(m[2]) for m in pattern.finditer(flat))
        if size > _MOST_LETTERS:
            raise InputError(f"megatron: layout: unrolls to {size} letters, too many")
        flat = pattern.sub(lambda m: m[1] * int(m[2]), flat)
    wrong = set(flat) - set("EtmL|")
    if wrong or not flat:
        what = f"{min(wrong)!r}" if wrong else "nothing"
        raise InputError(f"megatron: layout: {what}, expected E, t, m, L, |, and * with numbers")
    return flat


def _check_prediction(stages: Sequence[str], ranks: int) -> None:
    """Refuse layers of multi-token prediction that are not in one last stage behind all t."""
    letters = "".join(stages)
    if "m" not in letters:
        return
    holding = [n for n, stage in enumerate(stages) if "m" in stage]
    if "t" in letters[letters.index("m") :] or len(holding) > 1:
        raise InputError("megatron: layout: expected all m in one stage, after all t")
    if holding[0] < len(stages) - ranks or holding[0] % ranks == 0:
        raise InputError("megatron: layout: m expected in the last virtual stage, not on rank 0")


def write_arguments(plan: Plan, num_layers: int) -> str:
    """Return the arguments of a plan whose first layer is the embedding and whose last the head.

    Raises
    ------
    InputError
        If there are no decoder layers between.
    """
    if num_layers < 3:
        raise InputError(
            f"megatron: {num_layers} layers, but its first is the embedding and its last the head; "
            "plan a chain with decoder layers between, as import hf-config makes it"
        )
    last = plan.num_stages - 1
    decoder = [b - a - (n == 0) - (n == last) for n, (a, b) in enumerate(plan.stage_layers)]
    return f"{_SIZE} {plan.num_stages}\n{_LAYOUT} {shlex.quote(layout_of(decoder))}\n"


def read_arguments(text: str) -> tuple[tuple[int, int], ...]:
    """Return the layers of each stage that arguments say, one stage a rank.

    Raises
    ------
    InputError
        If they are others, or the layout breaks a rule.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"megatron: arguments: {error}") from None
    given = dict(zip(words[::2], words[1::2], strict=False))
    if len(words) != 4 or set(given) != {_SIZE, _LAYOUT}:
        raise InputError(f"megatron: expected the arguments {_SIZE} and {_LAYOUT}, one value each")
    size = given[_SIZE]
    if not (size.isascii() and size.isdigit()) or len(size) > 6 or int(size) == 0:
        raise InputError(f"megatron: {_SIZE}: {size!r}, expected a positive whole number")
    stages = read_layout(given[_LAYOUT], int(size))
    if len(stages) != int(size):
        raise InputError(
            f"megatron: layout of {len(stages)} stages on {size} ranks, expected one a rank"
        )
    if "m" in given[_LAYOUT]:
        raise InputError("megatron: layout: m is multi-token prediction, expected none in a plan")
    ends = [0]
    for stage in stages:
        ends.append(ends[-1] + len(stage))
    return tuple(pairwise(ends))
