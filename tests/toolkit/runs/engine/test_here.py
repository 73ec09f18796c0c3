"""Runs on this machine: no Dask, and nothing is left of them when the engine has closed."""

import subprocess
import sys
import threading
import time

import pytest

from gadgetopt.errors import InputError
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.engine import machine, supervisor
from gadgetopt.runs.engine.client import Engine
from gadgetopt.runs.engine.here import Arrived, Threads
from gadgetopt.runs.engine.worker import dask_worker
from gadgetopt.system.result import Limits

#: As where the extra `cluster` is not installed.
WITHOUT_DASK = "import sys; sys.modules['dask'] = sys.modules['distributed'] = None\n"


def test_a_comparison_needs_no_dask(piles, tmp_path):
    code = (
        f"{WITHOUT_DASK}"
        "from gadgetopt.runs.comparison import compare\n"
        f"table = compare([{str(piles(2))!r}], ['greedy', 'exact'], workers=2)\n"
        "print(*(entry.result.status for entry in table))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["feasible", "feasible", "optimal", "optimal"]


def test_a_cluster_without_dask_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(InputError, match=r"tcp://there: needs Dask: pip install 'gadgetopt\[cluste"),
        Engine("s", "tcp://there", 1),
    ):
        pass


def test_this_thread_is_no_worker_of_dask():
    assert dask_worker() is None


def test_tasks_are_done_in_their_order_and_what_they_raise_is_handed_over():
    arrived = Arrived()
    threads = Threads(1, arrived)
    try:
        tasks = [threads.submit(divmod, 7, k, key="any", priority=-k) for k in (2, 0, 3)]
        found = [arrived.queue.get(timeout=60) for _ in tasks]
    finally:
        threads.close()
    assert [task for task, _ in found] == tasks
    assert [task.status for task in tasks] == ["finished", "error", "finished"]
    assert (found[0][1], found[2][1]) == ((3, 1), (2, 1))
    assert isinstance(found[1][1], ZeroDivisionError)


def test_closing_ends_the_tasks_the_processes_and_the_threads():
    arrived, processes = Arrived(), []
    begun = threading.Event()

    def run():
        processes.append(supervisor._process(1, ""))
        over = supervisor._cancelled()
        begun.set()
        while not over():
            time.sleep(0.01)

    threads = Threads(2, arrived)
    for _ in range(2):
        threads.submit(run)
    assert begun.wait(60)
    threads.cancel([])
    threads.close()
    assert not any(thread.is_alive() for thread in threads._threads)
    assert not any(process.alive for process in processes)


def test_the_runs_of_this_machine_share_its_memory(monkeypatch):
    monkeypatch.setattr(supervisor, "machine_memory_mb", lambda: 8000.0)
    found = []
    threads = Threads(4, Arrived())
    threads.submit(lambda: found.append(supervisor._share_mb()))
    threads.arrived.queue.get(timeout=60)
    threads.close()
    assert found == [supervisor.MEMORY_SHARE * 2000]
    assert supervisor._share_mb() == supervisor.MEMORY_SHARE * 8000


def test_after_a_comparison_nothing_of_it_is_left(piles):
    before = set(threading.enumerate())
    compare([piles(1)], ["greedy", "exact"], limits=Limits(time_s=60.0), workers=2)
    assert not {
        thread for thread in set(threading.enumerate()) - before if thread.name[:4] == "run "
    }


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, 6),
        ({"cpu.max": "max 100000"}, 6),
        ({"cpu.max": "250000 100000"}, 2),
        ({"cpu.max": "20000 100000"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 6),
        ({"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
    ],
)
def test_the_cores_of_a_container_are_its_share_of_time(tmp_path, monkeypatch, files, cores):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(machine, "_GROUPS", tmp_path)
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    assert machine.machine_cores() == cores
