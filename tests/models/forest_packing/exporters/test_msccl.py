"""Forest packing as MSCCL programs: what is written does the collective, and reads back."""

import itertools
import os
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.exporters import msccl
from gadgetopt.models.forest_packing.exporters.chunk_counts import best_counts, time_of
from gadgetopt.models.forest_packing.instance import (
    ForestPackingInstance,
    ForestPackingSolution,
    TreePair,
)
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.msccl.checking import check_program
from gadgetopt.pieces.formats.msccl.program import Place, read_program, write_program
from gadgetopt.system.files import Document

from ..expected import LIBRARY
from ..networks import cables, known
from .plans import random_instance, random_plan

#: Changed programs that have to be refused.
MUTANTS = int(os.environ.get("GADGETOPT_MUTANTS", "300"))


def data(path):
    return gadgetopt.read(path).data


def write(instance, plan, **parameters):
    return msccl.write(instance, plan, **parameters).text(".xml")


def read(text, instance):
    return msccl.read_back(instance, Exported({".xml": text}))


def solved(instance, method="column_generation"):
    document = Document(gadgetopt.problem("forest_packing"), "instance", "test", instance, {})
    return gadgetopt.solve(document, method).solution


def is_right(text):
    checked = check_program(read_program(text))
    assert checked.faults == []
    return checked


# -- plans -------------------------------------------------------------------------------------


def test_quickstart_reaches_its_fluid_rate_in_45_chunks():
    """Largest remainders give 21.33 GB/s with 16, 32 and 64 chunks."""
    instance = data("instances/quickstart/forest_packing.json")
    text = write(instance, solved(instance))
    is_right(text)
    assert text.startswith(
        "<!-- 22.5 GB/s as a fluid, 22.5 GB/s in 45 chunks; no numbers of chunks up to 64 have "
        "more -->\n<algo "
    )
    assert evaluate(instance, read(text, instance)).objective == Fraction(45, 2)


#: Tiny instances that a program can say; the others are refused below.
TINY = [
    path.stem
    for path in sorted((LIBRARY / "tiny").glob("*.json"))
    if path.stem != "h4_in_network" and not (path.stem.endswith("_allgather"))
]


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("method", ["column_generation", "forestcoll"])
def test_tiny_plans_do_their_collective(name, method):
    instance = data(LIBRARY / "tiny" / f"{name}.json")
    result = gadgetopt.solve(instance, method)
    if result.solution is None:
        pytest.skip(f"{method} does not apply to {name}")
    text = write(instance, result.solution)
    is_right(text)
    back = evaluate(instance, read(text, instance))
    assert back.violations == ()
    assert back.objective <= result.objective


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"stage_mode": "sequential"},
        {"root_mode": "uniform"},
        {"root_mode": "uniform", "collective": "allgather"},
        {"root_mode": "uniform", "collective": "reduce_scatter"},
    ],
    ids=["overlap", "sequential", "uniform", "allgather", "reduce_scatter"],
)
def test_random_plans_read_back_with_the_rate_of_the_file(fields):
    """A hundred plans in all: the evaluator's rate of what is read is the rate that is written."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        instance = random_instance(rng, **fields)
        plan = random_plan(instance, rng)
        text = write(instance, plan, most_chunks=24)
        is_right(text)
        back = evaluate(instance, read(text, instance))
        assert back.violations == ()
        said = float(text.split(" GB/s in ")[0].rsplit(" ", 1)[1])
        assert float(back.objective) == pytest.approx(said, rel=1e-5)


def test_rates_that_are_whole_chunks_come_back_as_they_were():
    """Two trees of 2 and 1 GB/s in three chunks."""
    instance = known("H4")
    star = tuple((v, 3, 0) for v in (1, 2))
    other = tuple((v, 3, 1) for v in (0, 2))
    plan = ForestPackingSolution(
        trees=(
            TreePair(root=0, in_tree=star, rate_gbyte_per_s=Fraction(1, 3)),
            TreePair(root=1, in_tree=other, rate_gbyte_per_s=Fraction(1, 3)),
        )
    )
    assert evaluate(instance, plan).violations == ()
    back = read(write(instance, plan), instance)
    assert [tree.in_tree for tree in back.trees] == [star, other]
    assert evaluate(instance, back).objective >= Fraction(2, 3)


def test_paths_through_switches_come_from_the_comments():
    """Both switches join the workers; without the comment the reader takes the first."""
    links = cables((0, 2, 1), (1, 2, 1), (0, 3, 5), (1, 3, 5))
    instance = ForestPackingInstance(workers=(0, 1), switches=(2, 3), links=links)
    plan = ForestPackingSolution(
        trees=(TreePair(root=0, in_tree=((1, 3, 0),), rate_gbyte_per_s=Fraction(5)),)
    )
    text = write(instance, plan)
    assert evaluate(instance, read(text, instance)).objective == 5
    bare = "\n".join(line for line in text.splitlines() if "route" not in line)
    assert evaluate(instance, read(bare, instance)).objective == 1


# -- chunks ------------------------------------------------------------------------------------


def test_counts_are_the_best_of_all():
    """Against every count of up to eight chunks."""
    rng = np.random.default_rng(1)
    for _ in range(6):
        instance = random_instance(rng)
        trees = random_plan(instance, rng).trees[:3]
        best = max(
            sum(counts) / time_of(instance, trees, counts)
            for counts in itertools.product(range(9), repeat=len(trees))
            if 0 < sum(counts) <= 8
        )
        found = best_counts(instance, trees, 8, 60.0)
        assert found.exact
        assert found.rate == best


def test_without_time_the_largest_remainders_are_taken():
    instance = data("instances/quickstart/forest_packing.json")
    trees = [t for t in solved(instance).trees if t.rate_gbyte_per_s]
    found = best_counts(instance, trees, 64, 0.0)
    assert not found.exact
    assert found.num_chunks <= 64
    assert found.rate <= Fraction(45, 2)


# -- refusals ----------------------------------------------------------------------------------


def tree(*paths, root=0, rate=1):
    return ForestPackingSolution(
        trees=(TreePair(root=root, in_tree=paths, rate_gbyte_per_s=Fraction(rate)),)
    )


@pytest.mark.parametrize(
    ("instance", "plan", "message"),
    [
        (known("H4", in_network=True), tree(), "switches of this instance copy and sum"),
        (known("H2", collective="allgather"), tree(), "solve with root_mode 'uniform'"),
        (
            known("H2", collective="broadcast", root_mode="fixed", root=0),
            tree(),
            "a program names no root, as a broadcast needs it; expected an allreduce",
        ),
        (known("H2"), ForestPackingSolution(trees=()), "rate is 0"),
        (known("H2"), tree((2, 1, 0), (1, 0)), "the path from 2 to 0 passes worker 1"),
    ],
)
def test_what_a_program_cannot_say_is_refused(instance, plan, message):
    with pytest.raises(InputError, match=r"^msccl: ") as caught:
        write(instance, plan)
    assert message in str(caught.value)


def test_a_program_of_another_instance_is_refused():
    instance = known("H2")
    text = write(instance, tree((1, 0), (2, 0)))
    with pytest.raises(InputError, match="3 GPUs, but the instance has 4 workers"):
        read(text, known("H3"))
    with pytest.raises(InputError, match="coll 'allreduce', but the instance's collective is"):
        read(text, known("H2", collective="allgather", root_mode="uniform"))


# -- mutants -----------------------------------------------------------------------------------


def changed(program, rng):
    """Return a program with one change, what was changed, and whether it matters.

    Whether a step tells others that it is done changes nothing where nobody waits for it, nor does
    it where an allgather's root takes what it sends from its input.
    """
    rank = int(rng.integers(len(program.gpus)))
    gpu = program.gpus[rank]
    b = int(rng.integers(len(gpu.blocks)))
    block = gpu.blocks[b]
    s = int(rng.integers(len(block.steps)))
    step = block.steps[s]
    what = str(
        rng.choice(
            ["kind", "offset", "source", "wait", "signal", "count", "peer", "channel", "lost"]
        )
    )
    if what == "lost":
        blocks = [x for i, x in enumerate(gpu.blocks) if i != b]
    else:
        new_step, new_block = step, block
        if what == "kind":
            others = {"rrc": "r", "rrs": "rcs", "rcs": "rrs", "r": "rrc", "s": "nop", "cpy": "re"}
            new_step = replace(step, kind=others[step.kind])
        elif what == "offset":
            moved = lambda place: Place(place.buffer, (place.offset + 1) % program.num_chunks)  # noqa: E731
            new_step = replace(step, source=moved(step.source), target=moved(step.target))
        elif what == "source":
            other = {"i": "o", "o": "i", "s": "i"}[step.source.buffer]
            new_step = replace(step, source=Place(other, step.source.offset))
            if step.kind in ("r", "rcs"):
                new_step = replace(step, target=Place("i", step.target.offset))
        elif what == "wait":
            new_step = replace(step, waits_for=None if step.waits_for else (len(gpu.blocks), 0))
        elif what == "signal":
            new_step = replace(step, signals=not step.signals)
        elif what == "count":
            new_step = replace(step, count=step.count + 1)
        elif what == "peer":
            end = "send" if block.send >= 0 else "receive"
            new = (getattr(block, end) + 1) % (len(program.gpus) + 1)
            new_block = replace(block, **{end: new})
        elif what == "channel":
            new_block = replace(block, channel=(block.channel + 1) % (program.num_channels + 1))
        steps = list(new_block.steps)
        steps[s] = new_step
        blocks = list(gpu.blocks)
        blocks[b] = replace(new_block, steps=tuple(steps))
    gpus = list(program.gpus)
    gpus[rank] = replace(gpu, blocks=tuple(blocks))
    awaited = any(step.waits_for == (b, s) for block in gpu.blocks for step in block.steps)
    own = step.kind == "s" and program.collective == "allgather"
    matters = {"signal": awaited, "source": not own}
    return replace(program, gpus=tuple(gpus)), what, matters.get(what, True)


def test_changed_programs_are_refused():
    rng = np.random.default_rng(2)
    quickstart = data("instances/quickstart/forest_packing.json")
    instances = [
        quickstart,
        known("H7", root_mode="uniform"),
        known("H7", root_mode="uniform", collective="allgather"),
        known("H7", root_mode="uniform", collective="reduce_scatter"),
    ]
    programs = [read_program(write(i, solved(i))) for i in instances]
    refused = 0
    while refused < MUTANTS:
        mutant, what, matters = changed(programs[refused % len(programs)], rng)
        if not matters:
            continue
        try:
            again = read_program(write_program(mutant))
        except InputError:
            refused += 1
            continue
        assert check_program(again).faults, what
        refused += 1
