"""Dask's log does not reach the terminal."""

import logging

from gadgetopt.runs.engine.quiet import quiet_dask


def say(error):
    logging.getLogger("asyncio").error("never retrieved", exc_info=error)


def test_nothing_is_said_while_the_cluster_is_used(caplog):
    with quiet_dask():
        say(ValueError("anything"))
    assert caplog.records == []


def test_afterwards_only_a_timeout_that_nobody_waits_for_is_not_said(caplog):
    with quiet_dask():
        pass
    say(TimeoutError("Timeout"))
    assert caplog.records == []
    say(TimeoutError("the solver's own"))
    say(ValueError("Timeout"))
    assert len(caplog.records) == 2
