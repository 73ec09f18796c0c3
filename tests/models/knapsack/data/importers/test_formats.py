"""The public formats: instances read from files, and bad files refused in one clear line."""

import json

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.knapsack.data.importers.formats import mmkp, orlib_mknap
from gadgetopt.models.knapsack.data.importers.reading import read_mmkp, read_orlib
from gadgetopt.system.files import library, read_instance

from ...brute_force import single

RNG = np.random.default_rng(0)

MKNAP1 = " 2\n\n 2 1 7\n 3 4.5\n 1\n 2\n 3\n 1 2 0  6\n 1\n 2 3 4\n"

MKNAP2 = """\
 These problems are of the following form.
 +++++++++++++++++++++++++
 EXAMPLE
 problem TWO.DAT // Title
 2 2 // 2 knapsacks, 2 objects
 +++++++++++++++++++++++++
 problem THREE.DAT

 +++++++++++++++++++++++++
 1 3
 5 6 7
 9
 3 4
 5

 13
 +++++++++++++++++++++++++
 problem FOUR.DAT
 +++++++++++++++++++++++++
 2 1
 5 9 8 3 4
"""

MMKP = """\
 2 2 1
 10
 1
 7.50 1
 8.00 4
 2
 1.00 0
 2.00 6
 Solutions by HEU
 1 0 9.00
 Upper bound
 10.25
 Solutions by  Exact Solution
 1  1   10.00
"""


@pytest.fixture
def file(tmp_path):
    def write(text, name="some.txt"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture(scope="session")
def data(root):
    folder = root.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the public benchmark files are not in {folder}")
    return folder


def test_mknap1_is_read_word_by_word(file):
    outcome = orlib_mknap([file(MKNAP1)], RNG)
    # The second problem's rows are broken in the middle.
    assert outcome.instances == [
        ("some_00", single([3, 4.5], [[1, 2]], [3])),
        ("some_01", single([6], [[1], [2]], [3, 4])),
    ]
    assert outcome.origin_of["some_00"] == {"file": "some.txt", "index": 0, "stated_optimum": 7}
    assert "stated_optimum" not in outcome.origin_of["some_01"]


def test_mknap2_states_constraints_first_and_its_introduction_is_passed_over(file):
    outcome = orlib_mknap([file(MKNAP2)], RNG)
    assert outcome.instances == [
        ("three", single([5, 6, 7], [[3, 4, 5]], [9])),
        ("four", single([5], [[3], [4]], [9, 8])),
    ]
    assert outcome.origin_of["three"]["stated_optimum"] == 13
    assert "stated_optimum" not in outcome.origin_of["four"]


def test_mmkp_takes_exactly_one_item_of_each_group_and_reads_what_is_stated(file):
    outcome = mmkp([file(MMKP, "I99")], RNG)
    ((name, instance),) = outcome.instances
    assert name == "mmkp_I99"
    assert instance.exactly_one
    assert [[float(i.profit) for i in g] for g in instance.groups] == [[7.5, 8.0], [1.0, 2.0]]
    assert outcome.origin_of[name]["stated_optimum"] == 10
    assert outcome.origin_of[name]["stated_upper_bound"] == 10.25


@pytest.mark.parametrize(
    ("wanted", "names"),
    [("1", ["some_01"]), ("some_00,1", ["some_00", "some_01"]), ("SOME_*", ["some_00", "some_01"])],
)
def test_problems_are_chosen_by_number_or_name(file, wanted, names):
    outcome = orlib_mknap([file(MKNAP1)], RNG, problems=wanted)
    assert [name for name, _ in outcome.instances] == names


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty file, expected a knapsack problem"),
        ("not numbers", "line 1: 'not', expected the number of problems"),
        ("0", "line 1: '0', expected the number of problems, a positive whole number"),
        ("1.5", "line 1: '1.5', expected the number of problems, a positive whole number"),
        (
            MKNAP1.replace("4.5", "4,5"),
            "line 4: '4,5', expected the profits of problem 0, number 2 of 2",
        ),
        (MKNAP1.replace("4.5", "nan"), "line 4: 'nan', expected the profits of problem 0"),
        (MKNAP1.replace("4.5", "-4"), "profits of problem 0, number 2 of 2: -4 is negative"),
        (
            MKNAP1[:-3],
            "ends after 16 words, expected 1 more for the capacities of problem 1",
        ),
        (MKNAP1 + " 5", "line 11: '5', expected the end after the 2 problems announced"),
        ("1 99999 99999 0 1", "expected 99998 more for the profits of problem 0"),
        ("+++++\nproblem X.DAT\n", "no section that says|has no section of data"),
        ("text\n+++++\ntext\n", "no section that says 'problem NAME' between lines of"),
        (MKNAP2.replace(" 13\n", " 13 14\n"), "problem THREE.DAT: line 16: '14', expected the end"),
        (MKNAP2.replace("8 3 4", "8 3"), "problem FOUR.DAT: ends after 6 words, expected 1 more"),
    ],
)
def test_bad_orlib_files_are_refused_in_one_line(file, text, complaint):
    path = file(text)
    with pytest.raises(InputError, match=complaint) as refusal:
        read_orlib(path)
    assert str(refusal.value).startswith(str(path))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (MMKP.replace("\n 2\n", "\n 3\n"), "line 6: '3', expected 2, the number of the next group"),
        (MMKP.replace("8.00 4", "8.00"), "line 7: '1.00', expected 2, the number of the next"),
        (MMKP.replace(" Solutions by HEU", " 3"), "line 9: '3', expected the end after the 2"),
        (MMKP.replace("2.00 6", ""), "line 9: 'Solutions', expected the profit of item 2 of group"),
        (MMKP.replace("7.50", "x"), "line 4: 'x', expected the profit of item 1 of group 1"),
        (MMKP.replace("7.50", "-7.5"), "line 4: the profit of item 1 of group 1: -7.5 is negative"),
        (MMKP.replace(" 10\n", " -10\n", 1), "line 2: the capacities, number 1 of 1: -10 is neg"),
        (MMKP[:24], "ends after 8 words, expected"),
        ("2 0 1\n10\n", "line 1: '0', expected the number of items in each group, a positive"),
        ("", "empty file, expected a knapsack problem"),
    ],
)
def test_bad_mmkp_files_are_refused_in_one_line(file, text, complaint):
    with pytest.raises(InputError, match=complaint):
        read_mmkp(file(text))


def test_files_that_cannot_be_read_and_problems_that_are_not_there_are_refused(file, tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        orlib_mknap([tmp_path / "missing.txt"], RNG)
    with pytest.raises(InputError, match="none given"):
        orlib_mknap([], RNG)
    with pytest.raises(InputError, match="problems: '7' is none of the 2 in the files"):
        orlib_mknap([file(MKNAP1)], RNG, problems="7")
    with pytest.raises(InputError, match="some_00: is also in another of the files"):
        orlib_mknap([file(MKNAP1)] * 2, RNG)
    path = tmp_path / "bytes"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a text file"):
        read_mmkp(path)


def test_the_command_line_writes_instances_that_state_the_optimum_in_their_origin(
    cli, file, tmp_path
):
    arguments = ["import", "orlib-mknap", file(MKNAP1), "--out", tmp_path, "--json"]
    code, out, _ = cli(*arguments, "--set", "problems=0")
    assert code == 0
    assert json.loads(out)["report"]["problems_taken"] == 1
    document = read_instance(tmp_path / "some_00.json")
    assert document.origin["stated_optimum"] == 7
    assert document.data == single([3, 4.5], [[1, 2]], [3])
    code, _, err = cli("import", "orlib-mknap", file("1 x"), "--out", tmp_path)
    assert code == 2
    assert "some.txt: line 1: 'x', expected the number of variables of problem 0" in err


def test_the_public_files_hold_as_many_problems_as_their_authors_say(data):
    orlib = data / "orlib"
    assert len(read_orlib(orlib / "mknap1.txt").problems) == 7
    assert len(read_orlib(orlib / "mknapcb1.txt").problems) == 30
    named = {p.name: p for p in read_orlib(orlib / "mknap2.txt").problems}
    assert len(named) == 48
    # In the library as tiny instances.
    tiny = library() / "knapsack" / "tiny"
    assert named["weing1"].instance == read_instance(tiny / "e7_weing1.json").data
    assert named["weing1"].stated == {"stated_optimum": 141278}
    khan = read_mmkp(data / "mmkp" / "I01").problems[0]
    assert khan.instance == read_instance(tiny / "e8_khan_i01.json").data
    assert khan.stated == {"stated_optimum": 173, "stated_upper_bound": 182.71}


def test_a_file_of_the_other_kind_is_refused(data):
    for path, read in [
        (data / "mmkp" / "I01", read_orlib),
        (data / "orlib" / "best-feasible-slns.txt", read_orlib),
        (data / "orlib" / "mknap1.txt", read_mmkp),
        (data / "orlib" / "mknap2.txt", read_mmkp),
    ]:
        with pytest.raises(InputError, match=path.name):
            read(path)
