"""Units multiply and cancel."""

from gadgetopt.numbers.dimensions import ONE, unit


def test_units_cancel():
    second, step = unit("s"), unit("step")
    assert second / second == ONE
    assert second / (step / second) == second * second / step
    assert str(ONE) == "1"
    assert str(second * second / step) == "s^2 step^-1"
