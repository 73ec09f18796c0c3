"""PyTorch's CSV of a schedule: what no pipeline can run is refused, also what PyTorch accepts."""

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.runtimes.torch_csv import read_schedule, write_schedule

#: Two ranks, two microbatches, 1F1B.
GOOD = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"

#: What torch 2.13's `_validate_schedule` accepts although no pipeline runs it right.
HOLES = {
    "a forward twice": ("0F0,0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", "forward of microbatch 0 is"),
    "a backward twice": ("0F0,0F1,0B0,0B0,0B1\n1F0,1B0,1F1,1B1\n", "backward of microbatch 0 is"),
    "microbatches from 1": ("0F1,0F2,0B1,0B2\n1F1,1B1,1F2,1B2\n", "forward of microbatch 0 is"),
    "B beside I and W": ("0F0,0F1,0B0,0I0,0W0\n1F0,1B0,1F1,1B1\n", "backward of microbatch 0 is"),
    "junk": ("0F0junk,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", "row 0, cell 0: '0F0junk': expected a"),
}
WRONG = {
    "nothing": ("", "has no row"),
    "an empty row": ("0F0,0B0\n\n", "row 1: is empty"),
    "only empty cells": (",,\n0F0,0B0\n", "row 0: is empty"),
    "a stage on two ranks": ("0F0,0F1,0B0,1B0,0B1\n1F0,1F1,1B1\n", "stage 1: is on ranks 0 and 1"),
    "a stage on none": ("0F0,0B0\n2F0,2B0\n", "stage 1: is on no rank, expected 0 to 2"),
    "a circle": ("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n", "row 0, cell 1: 0B0 waits for what waits"),
    "W before I": ("0F0,0W0,0I0\n", "row 0, cell 1: 0W0 waits"),
    "no backward": ("0F0\n", "the backward of microbatch 0 is there 0 times"),
    "a leading zero": ("00F0,0B0\n", "'00F0': expected a cell"),
    "another digit": ("0F٠,0B0\n", "expected a cell"),
    "a space": ("0F0, 0B0\n", "' 0B0': expected a cell"),
    "a pair of forwards": ("(0F0;0F1)OVERLAP_F_B\n", "expected a pair such as"),
    "a number of microbatches": ("0F0,0B0,0F999999999\n", "forward of microbatch 1 is there 0"),
}


def test_what_is_written_is_read():
    rows = (("0F0", "0F1", "0B0", "0I1", "0W1"), ("1F0", "1B0", "1F1", "1B1"))
    schedule = read_schedule(write_schedule(rows))
    assert schedule.rows == rows
    assert schedule.rank_of_stage == (0, 1)
    assert schedule.num_microbatches == 2


def test_two_stages_of_a_rank_and_pairs_are_read():
    pairs = "0F0,1F0,0F1,(1F1;1B0)OVERLAP_F_B,0B0,1B1,0B1\n"
    assert read_schedule(pairs).rank_of_stage == (0, 0)


def test_empty_cells_are_skipped():
    assert read_schedule(",0F0,,0F1,0B0,0B1\n1F0,1B0,1F1,,1B1,\n").rows == read_schedule(GOOD).rows


@pytest.mark.parametrize(("text", "said"), HOLES.values(), ids=HOLES)
def test_the_holes_of_the_validator_are_closed(text, said):
    with pytest.raises(InputError, match=r"^torch-csv: ") as refused:
        read_schedule(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_run_is_refused_with_its_place(text, said):
    with pytest.raises(InputError, match=r"^torch-csv: ") as refused:
        read_schedule(text)
    assert said in str(refused.value)


def test_nothing_wrong_is_written():
    with pytest.raises(InputError, match="waits for what waits for it"):
        write_schedule([("0B0", "0F0")])
