"""MSCCL programs as XML: what is written is read, and what is no program is refused in a line."""

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.formats.msccl.program import read_program, write_program

from .programs import two_gpus


def test_what_is_written_is_read():
    program = two_gpus()
    assert read_program(write_program(program, ["a comment"])) == program


def test_xml_keeps_to_what_the_executor_reads():
    """Its parser takes the first element for the program, double quotes, one blank."""
    text = write_program(two_gpus())
    assert text.startswith("<algo ")
    assert "'" not in text
    assert "<?xml" not in text
    assert all("  " not in line.strip() for line in text.splitlines())
    assert 'srcbuf="i" srcoff="0"' in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<algo ", "<algos ", "mismatched tag"),
        ('proto="Simple"', 'proto="Fast"', "algo: proto 'Fast', expected Simple, LL128, LL"),
        ('proto="Simple" ', "", "algo: has no proto"),
        ('outofplace="1" ', "", "algo: has no outofplace"),
        ('nchunksperloop="1"', 'nchunksperloop="0"', "nchunksperloop 0, expected at least 1"),
        ('ngpus="2"', 'ngpus="3"', "expected GPUs of the ids 0 to 2, in order"),
        ('<tb id="1"', '<tb id="2"', "gpu 0: expected thread blocks of the ids 0, 1, ... in order"),
        ('cnt="1"', 'cnt="one"', "gpu 0, block 0, step 0: cnt 'one', expected an integer"),
        ('cnt="1"', 'cnt="²"', "gpu 0, block 0, step 0: cnt '²', expected an integer"),
        ('type="rrc"', 'type="rr"', "type 'rr', expected cpy, nop, r,"),
        ('srcbuf="i"', 'srcbuf="x"', "srcbuf 'x', expected i, o, s"),
        ('hasdep="1"', 'hasdep="2"', "hasdep '2', expected 0, 1"),
        (
            'step s="0"',
            'step s="1"',
            "gpu 0, block 0: expected steps of the numbers 0, 1, ... in order",
        ),
    ],
)
def test_what_is_no_program_is_refused(old, new, message):
    text = write_program(two_gpus()).replace(old, new, 1)
    with pytest.raises(InputError) as caught:
        read_program(text, "x.xml")
    assert str(caught.value).startswith("x.xml: ")
    assert message in str(caught.value)


def test_a_document_type_is_refused():
    with pytest.raises(InputError, match="document type"):
        read_program('<!DOCTYPE algo [<!ENTITY a "b">]>' + write_program(two_gpus()))
