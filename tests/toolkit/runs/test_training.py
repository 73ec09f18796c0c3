"""A training that is stopped goes on, and ends with the same policy."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.runs.rows import run_key
from gadgetopt.runs.training import checkpoint_of, curve_of, train
from gadgetopt.system.declaration import Method, Trainer
from gadgetopt.system.methods import MethodCall
from gadgetopt.system.result import Limits

from .walk import WALK, WALKING


def run(out, seed=0, time_s=None, **more):
    parameters = {**WALK.parameters, **more.pop("parameters", {})}
    return train(WALKING, WALK, parameters, seed, out, Limits(time_s=time_s), **more)


def test_the_same_seed_gives_the_same_files_and_another_seed_others(tmp_path):
    a, b, c = (tmp_path / name for name in ("a.npz", "b.npz", "c.npz"))
    run(a), run(b), run(c, seed=1)
    assert a.read_bytes() == b.read_bytes() != c.read_bytes()
    assert curve_of(a).read_bytes() == curve_of(b).read_bytes() != curve_of(c).read_bytes()


def test_stopped_after_each_round_it_ends_with_the_same_files(tmp_path):
    whole, parts = tmp_path / "whole.npz", tmp_path / "parts.npz"
    run(whole)
    calls = [run(parts, time_s=1e-9)]
    while not calls[-1].finished:
        assert checkpoint_of(parts).exists()
        assert not parts.exists()
        calls.append(run(parts, time_s=1e-9))
    assert [c.before for c in calls] == list(range(20))
    assert whole.read_bytes() == parts.read_bytes()
    assert curve_of(whole).read_bytes() == curve_of(parts).read_bytes()
    assert not checkpoint_of(parts).exists()


def test_killed_it_goes_on_and_ends_with_the_same_files(tmp_path, root):
    whole, killed = tmp_path / "whole.npz", tmp_path / "killed.npz"
    program = (
        "import sys; from pathlib import Path; from gadgetopt.runs.training import train\n"
        "from walk import WALK, WALKING\n"
        "parameters = {**WALK.parameters, **WALK.presets['long']}\n"
        "train(WALKING, WALK, parameters, 0, Path(sys.argv[1]), checkpoint_s=0.05)\n"
    )
    here = Path(__file__).parent
    path = os.pathsep.join(map(str, (here, here.parent, root)))
    environment = {**os.environ, "PYTHONPATH": path}
    process = subprocess.Popen([sys.executable, "-c", program, killed], env=environment)
    end = time.monotonic() + 60
    while not checkpoint_of(killed).exists() and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not killed.exists()
    long = WALK.presets["long"]
    after = run(killed, parameters=long)
    assert 0 < after.before < after.after == 400
    run(whole, parameters=long)
    assert whole.read_bytes() == killed.read_bytes()
    assert curve_of(whole).read_bytes() == curve_of(killed).read_bytes()


def test_a_finished_training_is_not_repeated(tmp_path):
    out = tmp_path / "policy.npz"
    first, second = run(out), run(out)
    assert (second.before, second.after) == (20, 20)
    assert second.finished
    assert list(second.curve) == list(first.curve)
    curve_of(out).unlink()
    assert not run(out).curve


@pytest.mark.parametrize("change", [{"seed": 1}, {"parameters": {"step": 0.25}}])
def test_another_training_is_replaced_only_by_force(tmp_path, change):
    out, other = tmp_path / "policy.npz", tmp_path / "other.npz"
    run(out, time_s=1e-9)
    with pytest.raises(InputError, match=r"checkpoint of another training .* --force begins anew"):
        run(out, **change)
    run(out)
    with pytest.raises(InputError, match="policy of another training"):
        run(out, **change)
    run(out, **change, force=True)
    run(other, **change)
    assert out.read_bytes() == other.read_bytes()


def test_a_checkpoint_without_the_state_is_said_so(tmp_path):
    out = tmp_path / "policy.npz"
    run(out, time_s=1e-9)
    with np.load(checkpoint_of(out)) as found:
        about = found["about"]
    with checkpoint_of(out).open("wb") as stream:
        np.savez(stream, about=about)
    with pytest.raises(InputError, match="is not a state of walk"):
        run(out)


def test_every_trainer_has_a_small_preset_of_its_own_parameters():
    with pytest.raises(InputError, match="no 'small'"):
        Trainer("x", summary="", start=None, methods=(), presets={})
    with pytest.raises(InputError, match="no parameter 'steps'"):
        Trainer("x", summary="", start=None, methods=(), presets={"small": {"steps": 1}})


def test_the_content_of_a_policy_file_is_part_of_a_runs_key(tmp_path):
    (tmp_path / "a").write_text("1")
    method = Method(
        "reads", kind="heuristic", summary="", reference="", run=None,
        parameters={"policy": ""}, files=("policy",),
    )  # fmt: skip

    def key(path, declared=method):
        return run_key("f", MethodCall(declared, {"policy": str(path)}), Limits(), 0, "code")

    before = key(tmp_path / "a")
    (tmp_path / "a").write_text("trained again")
    assert key(tmp_path / "a") != before
    assert key(tmp_path / "none") == key(tmp_path / "none")
    assert key(tmp_path) == key(tmp_path)  # a folder: the method says what is wrong
