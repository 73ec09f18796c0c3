"""Chakra traces: bytes of the schema, decoded; sends have their receives; junk is refused."""

import contextlib
import random

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.formats.chakra import wire
from gadgetopt.pieces.formats.chakra.traces import (
    COMPUTE,
    RECEIVE,
    SEND,
    Node,
    Trace,
    decode,
    encode,
    unmatched,
)
from gadgetopt.pieces.formats.chakra.work import Transfer, Work, first_difference, trace_of


def two_ranks():
    """Rank 0 computes and sends, rank 1 receives and computes."""
    sent = Transfer("activation 0", 0, 1, 5, 1000)
    return [
        trace_of([Work("0F0", 7, sends=(sent,)), Work("0F1", 7)], {"device": "0"}),
        trace_of([Work("1F0", 300, receives=(sent,))], {"device": "1"}),
    ]


def test_what_is_encoded_is_decoded():
    for trace in two_ranks():
        again = decode(encode(trace))
        assert first_difference([again], [trace]) is None
        assert again.about == trace.about


def test_the_bytes_are_those_of_the_schema():
    """Worked by hand: metadata of version 0.0.4, then a node 0 named "a" of type 4 and 300 us."""
    data = encode(Trace({}, (Node(0, "a", COMPUTE, micros=300),)))
    assert data == (
        b"\x07\x0a\x050.0.4"
        b"\x1a\x08\x00\x12\x01a\x18\x04\x38\xac\x02"
        b"\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00"
    )


def test_nodes_wait_for_what_they_need():
    first, second = two_ranks()
    assert [(node.kind, node.after) for node in first.nodes] == [
        (COMPUTE, ()),
        (SEND, (0,)),
        (COMPUTE, (0,)),
    ]
    assert [(node.kind, node.after) for node in second.nodes] == [(RECEIVE, ()), (COMPUTE, (0,))]


def test_sends_have_their_receives():
    first, second = two_ranks()
    assert unmatched([first, second]) is None
    assert "is sent and not received" in (unmatched([first, Trace({}, ())]) or "")
    assert "is received and not sent" in (unmatched([Trace({}, ()), second]) or "")
    assert "is an end of another rank" in (unmatched([second, first]) or "")


def test_numbers_of_64_bits():
    for number in (0, 1, 127, 128, 2**32, 2**64 - 1):
        assert wire.read_varint(wire.varint(number), 0) == (number, len(wire.varint(number)))
    with pytest.raises(InputError, match="more than 64 bits"):
        wire.read_varint(b"\xff" * 11, 0)


def test_changed_bytes_are_read_or_refused():
    """Never another error than the one line, and never for ever."""
    draw = random.Random(0)
    data = encode(two_ranks()[0])
    for _ in range(2000):
        changed = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        with contextlib.suppress(InputError):
            decode(bytes(changed[: draw.randint(0, len(changed))]))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ((Node(0, "a", COMPUTE), Node(0, "b", COMPUTE)), "node 0: is there twice"),
        ((Node(0, "a", COMPUTE, (1,)), Node(1, "b", COMPUTE)), "node 0: waits for a node"),
    ],
)
def test_traces_that_nobody_can_run_are_refused(nodes, message):
    with pytest.raises(InputError, match=message):
        decode(encode(Trace({}, nodes)))
