import pytest

from gadgetopt.models.pipeline_schedules.cells import Operation, read_cell, write_cell


@pytest.mark.parametrize("text", ["2F0", "0I10", "3W1", "1B2", "1R0", "1O0", "1L0"])
def test_a_cell_is_written_as_it_was_read(text):
    assert write_cell(read_cell(text)) == text


def test_a_pair_is_its_forward_and_its_backward():
    pair = (Operation(2, "F", 3), Operation(1, "B", 0))
    assert read_cell("(2F3;1B0)OVERLAP_F_B") == pair
    assert write_cell(pair) == "(2F3;1B0)OVERLAP_F_B"


@pytest.mark.parametrize(
    "text", ["", "F0", "2F", "2X0", "02F0", "-1F0", "2F0 ", "(1B0;2F3)OVERLAP_F_B", "2F" + "9" * 30]
)
def test_other_texts_are_no_cells(text):
    with pytest.raises(ValueError, match="expected a"):
        read_cell(text)
