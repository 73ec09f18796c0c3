"""The declaration is a table of contents: each room names its own parts."""

import importlib

import gadgetopt.models.bgl.partition as system


def test_every_method_lies_in_the_room_that_declares_it():
    for method in system.PROBLEM.methods:
        module = importlib.import_module(system.__name__ + "." + method.room.replace("/", "."))
        assert method.run.resolve().__module__.startswith(module.__name__ + ".")


def test_no_ratio_is_promised():
    assert system.PROBLEM.guarantees == ()
