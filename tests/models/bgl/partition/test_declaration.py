"""The declaration is a table of contents: each room names its own parts."""

import gadgetopt.models.bgl.partition as system


def test_every_method_lies_in_the_room_that_declares_it():
    rooms = ("algorithms", "baselines", "bounds", "exact", "formulations", "heuristics")
    declared = [m for room in rooms for m in getattr(system, room).METHODS]
    assert {m.name for m in declared} == {m.name for m in system.PROBLEM.methods}
    for method in declared:
        room = method.run.package.rpartition(".")[2]
        assert method in getattr(system, room).METHODS


def test_no_ratio_is_promised():
    assert system.PROBLEM.guarantees == ()
