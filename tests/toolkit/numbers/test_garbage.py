"""The collector of cycles is paused inside, and afterwards as it was before."""

import gc

import pytest

from gadgetopt.numbers.garbage import cycle_collector_paused


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_before_afterwards(enabled):
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with cycle_collector_paused(), cycle_collector_paused():
            assert not gc.isenabled()
        assert gc.isenabled() == enabled
        with pytest.raises(ZeroDivisionError), cycle_collector_paused():
            1 / 0  # noqa: B018
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
