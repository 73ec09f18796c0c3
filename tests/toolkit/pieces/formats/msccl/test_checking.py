"""The checker of MSCCL programs: rules, order, races and execution, each by a small program."""

import json
from dataclasses import replace

import pytest

from gadgetopt.pieces.formats.msccl.checking import check_program
from gadgetopt.pieces.formats.msccl.program import Block, Place, Program, Step, write_program

from .programs import INPUT, OUTPUT, SCRATCH, program_of, two_gpus


def with_step(program: Program, rank: int, block: int, **changes: object) -> Program:
    """Return a program with the first step of a thread block changed."""
    gpus = list(program.gpus)
    blocks = list(gpus[rank].blocks)
    step, *others = blocks[block].steps
    blocks[block] = replace(blocks[block], steps=(replace(step, **changes), *others))
    gpus[rank] = replace(gpus[rank], blocks=tuple(blocks))
    return replace(program, gpus=tuple(gpus))


def with_block(program: Program, rank: int, block: int, **changes: object) -> Program:
    """Return a program with a thread block changed."""
    gpus = list(program.gpus)
    blocks = list(gpus[rank].blocks)
    blocks[block] = replace(blocks[block], **changes)
    gpus[rank] = replace(gpus[rank], blocks=tuple(blocks))
    return replace(program, gpus=tuple(gpus))


def faults(program: Program) -> str:
    return "\n".join(check_program(program).faults)


def test_a_right_program_has_no_fault():
    checked = check_program(two_gpus())
    assert checked.faults == []
    assert checked.sentences[0] == (
        "allreduce of 2 GPUs in 1 chunk: 1 channel, at most 2 thread blocks a GPU, at most 1 step "
        "a block"
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"count": 72}, "72 chunks, expected 1 to 71"),
        ({"count": 0}, "0 chunks, expected 1 to 71"),
        ({"source": Place("i", 1)}, "chunks 1 to 1 of buffer i, which has 1"),
        ({"source": Place("i", -1)}, "chunks -1 to -1 of buffer i"),
        ({"waits_for": (7, 0)}, "waits for block 7"),
        ({"waits_for": (0, 3)}, "waits for step 3 of block 0, which does not exist"),
        ({"waits_for": (1, 0)}, "waits for step 0 of block 1, which has hasdep 0"),
        ({"kind": "s"}, "s in a block that sends to nobody"),
        ({"kind": "nop"}, "a nop can only wait"),
    ],
)
def test_rules_of_steps(change, expected):
    assert f"GPU 0, block 0, step 0: {expected}" in faults(with_step(two_gpus(), 0, 0, **change))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"receive": 0}, "GPU 0, block 0: receives from itself"),
        ({"receive": 2}, "GPU 0, block 0: receives from GPU 2, there are 2"),
        ({"channel": 1}, "GPU 0, block 0: channel 1, expected one below 1"),
        ({"send": 1}, "GPU 0: two thread blocks send to GPU 1 on channel 0"),
        (
            {"steps": two_gpus().gpus[0].blocks[0].steps * 65},
            "GPU 0, block 0: 65 steps, expected at most 64",
        ),
    ],
)
def test_rules_of_thread_blocks(change, expected):
    assert expected in faults(with_block(two_gpus(), 0, 0, **change))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"num_channels": 33}, "33 channels, expected 1 to 32"),
        ({"collective": "broadcast"}, "coll 'broadcast', expected allreduce, allgather"),
        ({"collective": "allgather"}, "1 chunks do not divide into parts of 2 GPUs"),
        ({"in_place": False, "out_of_place": False}, "it may never be used"),
        ({"gpus": ()}, "the program has no GPU"),
    ],
)
def test_rules_of_programs(change, expected):
    assert expected in faults(replace(two_gpus(), **change))


def test_sends_and_receives_have_to_fit():
    lost = replace(two_gpus(), gpus=(two_gpus().gpus[0], replace(two_gpus().gpus[1], blocks=())))
    assert "GPU 1 to GPU 0, channel 0: 0 sends, 1 receives" in faults(lost)


def test_steps_that_wait_for_each_other_are_found():
    circle = with_step(two_gpus(), 0, 0, waits_for=(1, 0))
    circle = with_step(circle, 0, 1, signals=True)
    assert "steps wait for each other" in faults(circle)


def test_a_race_is_found_though_a_lucky_run_would_be_right():
    """Without its dependency the send may read the output before the sum is there."""
    racing = with_step(two_gpus(), 0, 1, waits_for=None)
    assert (
        "out of place: GPU 0: step 0 of block 0 and step 0 of block 1 have no order, and both use "
        "chunk 0 of buffer o" in faults(racing)
    )


def test_a_race_that_exists_in_place_only_is_found():
    """GPU 1 receives into its output while another block still reads its input."""
    program = two_gpus()
    reader = Block(-1, -1, 0, (Step("cpy", INPUT, SCRATCH, 1),))
    gpus = (program.gpus[0], replace(program.gpus[1], blocks=(*program.gpus[1].blocks, reader)))
    racing = replace(program, gpus=gpus)
    assert "in place: GPU 1: step 0 of block 1 and step 0 of block 2" in faults(racing)
    assert "out of place" not in faults(racing)
    assert not check_program(replace(racing, in_place=False)).faults


def test_a_wrong_sum_is_found():
    copied = with_step(two_gpus(), 0, 0, kind="r")
    assert "chunk 0 of the output is wrong in the end" in faults(copied)


def test_a_chunk_that_nothing_has_written_is_found():
    early = with_step(two_gpus(), 0, 0, source=OUTPUT)
    assert "out of place: GPU 0, block 0, step 0 uses a chunk that nothing has written" in faults(
        early
    )
    assert "in place" not in faults(early).replace("out of place", "")


def test_a_root_may_add_and_send_at_once_in_one_buffer():
    """The form of published tree programs: in place, no input buffer, `rrcs` at the root."""
    program = program_of(
        [Block(1, 1, 0, (Step("rrcs", OUTPUT, OUTPUT, 1),))],
        [
            Block(0, -1, 0, (Step("s", OUTPUT, OUTPUT, 1),)),
            Block(-1, 0, 0, (Step("r", OUTPUT, OUTPUT, 1),)),
        ],
    )
    gpus = tuple(replace(gpu, input_chunks=0) for gpu in program.gpus)
    in_place = replace(program, gpus=gpus, out_of_place=False)
    assert check_program(in_place).faults == []
    assert "uses a chunk that nothing has written" in faults(replace(in_place, out_of_place=True))


def test_queues_have_one_place():
    """Each GPU sends twice before it receives: with queues of two places it would pass."""

    def steps(send: str) -> tuple[Step, ...]:
        first, second = Place("i", 0), Place("i", 1)
        own = (Step("s", first, first, 1), Step("s", second, second, 1))
        other = (
            Step("rrc", first, Place("o", 0), 1),
            Step("rrc", second, Place("o", 1), 1),
        )
        return (*own, *other) if send == "first" else (*other, *own)

    crossed = program_of(
        [Block(1, 1, 0, steps("first"))], [Block(0, 0, 0, steps("first"))], chunks=2
    )
    assert "waits for ever before step 1" in faults(replace(crossed, in_place=False))


def test_allgather_and_reduce_scatter_are_executed():
    """Each of two GPUs has its part, or wants the sum of it."""
    gather = program_of(
        *(
            [
                Block(
                    1 - rank,
                    1 - rank,
                    0,
                    (
                        Step("cpy", INPUT, Place("o", rank), 1),
                        Step("s", Place("o", rank), OUTPUT, 1),
                        Step("r", OUTPUT, Place("o", 1 - rank), 1),
                    ),
                )
            ]
            for rank in range(2)
        ),
        collective="allgather",
        chunks=2,
    )
    assert check_program(gather).faults == []
    scatter = program_of(
        *(
            [
                Block(
                    1 - rank,
                    1 - rank,
                    0,
                    (
                        Step("s", Place("i", 1 - rank), OUTPUT, 1),
                        Step("rrc", Place("i", rank), OUTPUT, 1),
                    ),
                )
            ]
            for rank in range(2)
        ),
        collective="reducescatter",
        chunks=2,
    )
    assert check_program(scatter).faults == []
    swapped = with_step(scatter, 0, 0, source=Place("i", 0))
    assert "is wrong in the end" in faults(swapped)


def test_the_command_line_checks_a_program(tmp_path, cli):
    right, wrong = tmp_path / "right.xml", tmp_path / "wrong.xml"
    right.write_text(write_program(two_gpus()))
    wrong.write_text(write_program(with_step(two_gpus(), 0, 0, kind="r")))
    code, out, _ = cli("check", right)
    assert code == 0
    assert "every output is right" in out
    code, out, _ = cli("check", wrong, "--json")
    assert code == 1
    assert json.loads(out)["status"] == "wrong"
    (tmp_path / "none.xml").write_text("<algo")
    code, _, err = cli("check", tmp_path / "none.xml")
    assert code == 2
    assert "is not XML" in err
