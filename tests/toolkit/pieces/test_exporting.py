"""Exporters: what is written is read back and judged before anything is on the disk."""

from dataclasses import replace

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported, find_exporter, load, save, written
from gadgetopt.system.declaration import Exporter, Problem
from gadgetopt.system.declaring import described, exporter

from ..toy import Choice, Knapsack, evaluate, size

INSTANCE = Knapsack(capacity=5, weight=(2, 3, 4), value=(3, 4, 6))


def write(instance, solution, *, separator: str = " "):
    """The numbers of the items."""
    return Exported({".txt": separator.join(map(str, solution.chosen))}, ("careful",))


def read_back(instance, exported):
    return Choice(chosen=tuple(map(int, exported.text(".txt").split())))


def first_only(instance, solution):
    return Choice(chosen=solution.chosen[:1])


LIST = Exporter(
    "list", summary="-", write=write, read_back=read_back, suffixes=(".txt",),
    parameters={"separator": " "},
)  # fmt: skip
TOY = Problem(
    name="toy", title="-", citation=gadgetopt.problem("knapsack").citation, sense="max",
    objective="-", instance_type=Knapsack, solution_type=Choice, evaluate=evaluate, size=size,
    exporters=(LIST,),
)  # fmt: skip


def test_a_solution_is_written_with_its_objective():
    judged = written(TOY, LIST, INSTANCE, Choice(chosen=(0, 1)), {"separator": "  "})
    assert judged.exported == Exported({".txt": "0  1"}, ("careful",))
    assert (judged.objective, judged.kept) == (7, 7)


def test_what_is_dropped_is_worth_what_is_kept():
    def write_first(instance, solution):
        return write(instance, first_only(instance, solution))

    short = replace(LIST, write=write_first, kept=first_only, drops="all but the first")
    judged = written(TOY, short, INSTANCE, Choice(chosen=(0, 1)), {})
    assert (judged.objective, judged.kept) == (7, 3)


def test_an_infeasible_solution_is_not_written():
    with pytest.raises(
        InputError, match="the solution is infeasible: capacity at knapsack: by 4; "
    ):
        written(TOY, LIST, INSTANCE, Choice(chosen=(0, 1, 2)), {})


def test_a_file_that_says_something_else_is_never_written():
    wrong = replace(LIST, read_back=lambda instance, exported: Choice(chosen=(1,)))
    with pytest.raises(InputError, match="list: what is read back has 4 instead of 7: nothing is"):
        written(TOY, wrong, INSTANCE, Choice(chosen=(0, 1)), {})


def test_what_is_dropped_is_said_in_words_and_as_a_function():
    with pytest.raises(InputError, match="exporter 'list': drops: expected in words"):
        replace(LIST, kept=first_only)
    with pytest.raises(InputError, match="exporter 'list': drops: expected in words"):
        replace(LIST, drops="much")
    with pytest.raises(InputError, match="exporter 'list': suffixes: none"):
        replace(LIST, suffixes=())


def test_an_unknown_format_names_those_there_are():
    assert find_exporter(TOY, "list") is LIST
    with pytest.raises(InputError, match=r"--format: .x., expected a format of .* of toy: list"):
        find_exporter(TOY, "x")


def test_files_are_written_and_found_beside_each_other(tmp_path):
    one = replace(LIST, suffixes=(".txt", ".more.csv"))
    there = Exported({".txt": "a", ".more.csv": b"b"})
    assert save(one, there, tmp_path / "x.txt") == [tmp_path / "x.txt", tmp_path / "x.more.csv"]
    (tmp_path / "x.other.csv").write_text("not of it")
    assert load(one, tmp_path / "x.txt").files == {".txt": b"a", ".more.csv": b"b"}
    save(one, there, tmp_path / "y")  # a name of one's own
    assert load(one, tmp_path / "y").files == {".txt": b"a", ".more.csv": b"b"}
    with pytest.raises(InputError, match=r"z\.txt: "):
        load(one, tmp_path / "z.txt")


def test_a_format_of_one_file_a_rank_is_found_by_any_name(tmp_path):
    many = replace(LIST, suffixes=(".*.et",))
    there = Exported({".0.et": b"a", ".1.et": b"b"})
    save(many, there, tmp_path / "x.et")
    (tmp_path / "x2.0.et").write_text("not of it")
    assert load(many, tmp_path / "x.et").files == there.files
    with pytest.raises(InputError, match="no such file, expected what list writes"):
        load(many, tmp_path / "y.et")


def test_an_exporter_is_declared_above_its_function():
    part = exporter("toy", suffixes=(".txt",), read_back=read_back).part(described(write, "-"))
    assert (part.format, part.summary) == ("test_exporting", "The numbers of the items")
    assert part.parameters == {"separator": " "}
    assert part.read_back is read_back
    assert part.kept is None


def to_lines(instance, solution):
    """The items of a solution."""
    return write(instance, solution)


def test_an_exporter_finds_what_stands_beside_it_by_name():
    part = exporter("toy", suffixes=(".txt",)).part(described(to_lines, "-"))
    assert (part.format, part.read_back.name, part.kept) == ("to-lines", "read_to_lines", None)
    part = exporter("toy", suffixes=(".txt",)).part(described(write, "-"))
    assert part.read_back.name == "read_back"
    part = exporter("toy", suffixes=(".txt",), drops="the order").part(described(to_lines, "-"))
    assert part.kept.name == "kept"
