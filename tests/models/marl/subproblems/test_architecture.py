"""Rings and levels by hand, and what is refused."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from pydantic import ValidationError

from gadgetopt.models.marl.queueing.data.generate.topologies import bcube, fat_tree, vl2
from gadgetopt.models.marl.queueing.instance import QueueingInstance
from gadgetopt.models.marl.subproblems.architecture import Network, ring_gbytes
from gadgetopt.pieces.server_boards import Board, board_of


def rings(board, size):
    """How many sets of GPUs have each speed."""
    sets = itertools.combinations(range(board.gpus), size)
    return Counter(board.ring_gbytes_s(gpus) for gpus in sets)


def test_two_sockets_by_hand():
    """PCIe 12 in a socket, 6 between: a pair of one socket 12, of two 6; three always cross."""
    board = board_of("sockets")
    assert board.ring_gbytes_s((0, 1)) == 12
    assert board.ring_gbytes_s((0, 2)) == 6
    assert rings(board, 3) == {6: 4}
    assert ring_gbytes(Fraction(6, 5), 2) == Fraction(6, 5)


def test_nvlink_pairs_help_pairs_only():
    board = board_of("nvlink_pairs")
    assert board.ring_gbytes_s((0, 1)) == 25
    assert board.ring_gbytes_s(range(4)) == 6
    assert board.fastest_gbytes_s == (None, None, 25, 6, 6)


def test_the_cube_mesh_has_the_rings_that_are_known():
    """Of 28 pairs 8 have two links and 8 one; 8 of 56 triples close a ring of NVLinks."""
    board = board_of("cube_mesh")
    pairs = rings(board, 2)
    assert (pairs[50], pairs[25], pairs[50] + pairs[25]) == (8, 8, 16)
    assert sum(number for speed, number in rings(board, 3).items() if speed >= 25) == 8
    assert board.ring_gbytes_s(range(8)) == 50


def distances(instance):
    """How many pairs of servers are at each level."""
    pairs = itertools.combinations(range(len(instance.servers)), 2)
    return Counter(instance.level(*pair) for pair in pairs)


def test_a_fat_tree_of_four_ports():
    """8 racks of 2 servers; each server has 1 in its rack, 2 in its pod, 12 beyond."""
    instance = fat_tree(np.random.default_rng(0))
    assert (len(instance.racks), len(instance.servers)) == (8, 16)
    assert distances(instance) == {1: 8, 2: 16, 3: 96}


def test_vl2_of_four_and_four_ports():
    instance = vl2(np.random.default_rng(0))
    assert (len(instance.racks), len(instance.servers)) == (4, 80)
    assert distances(instance) == {1: 4 * 190, 2: 6 * 400}


def test_bcube_of_four_ports_and_two_levels():
    """16 servers: each has 3 + 3 with one digit other than its own, and 9 with both."""
    instance = bcube(np.random.default_rng(0))
    assert (len(instance.racks), len(instance.servers)) == (4, 16)
    assert distances(instance) == {1: 48, 2: 72}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sockets": (((0, 2),),)}, "expected every number from 0 once"),
        ({"sockets": ((tuple(range(9)),),)}, "expected at most 8"),
        ({"nvlinks": ((0, 0, Fraction(1)),)}, "expected two of the 4 GPUs"),
    ],
)
def test_wrong_boards_are_refused(changed, message):
    with pytest.raises(ValidationError, match=message):
        board_of("sockets").model_copy(update=changed)


def test_wrong_networks_are_refused():
    with pytest.raises(ValidationError, match="expected 2 as in hops"):
        Network(kind="tree", nic_gbytes_s=1, hops=(2, 4), oversubscription=(Fraction(1),))
    with pytest.raises(ValidationError, match="expected no less than"):
        Network(kind="tree", nic_gbytes_s=1, hops=(4, 2), oversubscription=(Fraction(1),) * 2)


def changed_server(instance, **update):
    first = instance.servers[0].model_copy(update=update)
    return {"servers": (first, *instance.servers[1:])}


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ({"board": 1}, "but there are no boards"),
        ({"address": (0,)}, "1 digits, expected 2"),
        ({"address": (0, 1)}, "two have one address"),
    ],
)
def test_wrong_servers_are_refused(update, message):
    instance = bcube(np.random.default_rng(0))
    with pytest.raises(ValidationError, match=message):
        instance.model_copy(update=changed_server(instance, **update))


def test_a_board_has_the_gpus_of_its_server():
    instance = bcube(np.random.default_rng(0))
    board = Board(sockets=(((0, 1),),), switch_gbytes_s=1, socket_gbytes_s=1, between_gbytes_s=1)
    with pytest.raises(ValidationError, match="but its board has 2"):
        instance.model_copy(update={"boards": (board,)})


def test_files_without_architecture_do_not_mention_it():
    instance = fat_tree(np.random.default_rng(0))
    plain = QueueingInstance(
        servers=tuple(s.model_copy(update={"address": ()}) for s in instance.servers),
        jobs=tuple(j.model_copy(update={"gradient_gbytes": Fraction(0)}) for j in instance.jobs),
        interference=instance.interference,
        slot_s=instance.slot_s,
        num_slots=instance.num_slots,
    ).model_dump(mode="json")
    assert not {"boards", "network"} & set(plain)
    assert not {"board", "address"} & set(plain["servers"][0])
    assert "gradient_gbytes" not in plain["jobs"][0]
