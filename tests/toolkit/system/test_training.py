"""Policies as files of arrays: what is read is checked, and nothing is executed."""

import pickle

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.system.training import About, read_policy, write_arrays

ABOUT = About("toy", "walk", {"sizes": (1, 2)}, 0, 20)


class Bomb:
    def __reduce__(self):
        return (print, ("executed",))


def write(path, content):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with path.open("wb") as stream:
            np.savez(stream, **content)


def test_a_policy_is_read_as_it_was_written(tmp_path):
    write_arrays(tmp_path / "p.npz", ABOUT, {"w": np.eye(2), "n": np.array(3)})
    policy = read_policy(tmp_path / "p.npz", "toy", ("other", "walk"))
    assert policy.about.same_training(ABOUT)
    assert policy.about.rounds == 20
    assert (policy.array("w", 2, None) == np.eye(2)).all()
    assert policy.array("n") == 3


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "cannot be read: No such file"),
        (b"", "is not a policy file, expected what `gadgetopt train toy` writes"),
        (b"PK\x03\x04 and no more", "is not a policy file"),
        ({"w": np.eye(2)}, "is not a policy file"),
        ({"about": np.array('{"system": "toy"}')}, "is not a policy file"),
        ({"about": np.array("[]")}, "is not a policy file"),
        ({"about": np.array([Bomb()], dtype=object)}, "is not a policy file"),
        (pickle.dumps(Bomb()), "is not a policy file"),
    ],
)
def test_another_file_has_its_line(tmp_path, capsys, content, line):
    path = tmp_path / "p.npz"
    if content is not None:
        write(path, content)
    with pytest.raises(InputError) as error:
        read_policy(path, "toy", ("walk",))
    assert str(error.value).startswith(f"{path}: {line}")
    assert "\n" not in str(error.value)
    assert capsys.readouterr().out == ""


def test_a_policy_of_another_system_or_trainer_is_refused(tmp_path):
    path = tmp_path / "p.npz"
    write_arrays(path, ABOUT, {})
    with pytest.raises(InputError, match=r"system: 'toy', expected 'marl'"):
        read_policy(path, "marl", ("walk",))
    with pytest.raises(InputError, match=r"trainer: 'walk', expected 'a' or 'b'"):
        read_policy(path, "toy", ("a", "b"))


@pytest.mark.parametrize(
    ("array", "line"),
    [
        (np.ones((2, 2)), "w: shape 2x2, expected 2x3"),
        (np.ones(2), "w: shape 2, expected 2x3"),
        (np.full((2, 3), np.nan), "w: float64 array, expected finite numbers"),
        (np.array("text"), "w: <U4 array, expected finite numbers"),
    ],
)
def test_an_array_that_does_not_fit_has_its_line(tmp_path, array, line):
    path = tmp_path / "p.npz"
    write_arrays(path, ABOUT, {"w": array})
    policy = read_policy(path, "toy", ("walk",))
    with pytest.raises(InputError) as error:
        policy.array("w", 2, 3)
    assert str(error.value) == f"{path}: {line}"
    with pytest.raises(InputError, match="v: missing, expected an array"):
        policy.array("v", 2)
