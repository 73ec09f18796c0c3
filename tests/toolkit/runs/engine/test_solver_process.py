"""Ctrl-C reaches what runs in a solver process, whatever alarms it has set and whatever it says."""

import signal
import threading
import time

import pytest

from gadgetopt.runs.engine.process_handle import SolverProcess
from gadgetopt.runs.engine.solver_process import _HAS_TIMER, PATIENCE_S, _Interrupts
from gadgetopt.search.alarm import ended_after

pytestmark = pytest.mark.skipif(not _HAS_TIMER, reason="there are no timers here")


@pytest.fixture
def telling():
    """Return the lock of messages; the handlers of signals are put back afterwards."""
    numbers = (signal.SIGINT, signal.SIGALRM)
    before = [signal.getsignal(number) for number in numbers]
    yield threading.Lock()
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def test_an_alarm_that_is_over_does_not_silence_ctrl_c(telling):
    def sleep_after_an_alarm():
        with ended_after(100.0):
            signal.raise_signal(signal.SIGINT)
        time.sleep(20 * PATIENCE_S)

    with _Interrupts(telling).wanted(60.0), pytest.raises(KeyboardInterrupt) as raised:
        sleep_after_an_alarm()
    assert type(raised.value) is KeyboardInterrupt  # not that the time is up


def test_a_message_is_sent_before_ctrl_c_is_raised(telling):
    sent = []

    def send_and_sleep():
        with telling:
            signal.raise_signal(signal.SIGINT)
            time.sleep(3 * PATIENCE_S)
            sent.append("all of it")
        time.sleep(20 * PATIENCE_S)

    with _Interrupts(telling).wanted(60.0), pytest.raises(KeyboardInterrupt):
        send_and_sleep()
    assert sent


def test_who_waits_for_a_message_waits_no_longer_than_a_signal_is_handled():
    def slow(*_):
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            pass

    process = SolverProcess(1)
    before = signal.signal(signal.SIGALRM, slow)
    late = threading.Timer(10.0, process.messages.put, [("late",)])
    late.start()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        assert process.message(0.1) is None
    finally:
        late.cancel()
        signal.signal(signal.SIGALRM, before)
        process.stop()
