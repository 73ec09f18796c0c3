"""`show` and `plot`."""

import importlib
from dataclasses import replace

import pytest

import gadgetopt
from gadgetopt import InputError


@pytest.fixture(scope="module")
def instance(tiny):
    return gadgetopt.read(tiny / "e2_contention_pays.json")


@pytest.fixture(scope="module")
def result(instance):
    return gadgetopt.solve(instance, "first_fit")


def test_plot_takes_what_solve_returned(instance, result, tmp_path):
    path = tmp_path / "solution.json"
    gadgetopt.write(result.to_document(), path)
    of_result = gadgetopt.plot(result)
    for figure in (
        gadgetopt.plot(instance, result),
        gadgetopt.plot(instance, result.solution),
        gadgetopt.plot(instance, path),
        gadgetopt.plot(result.to_document()),
        gadgetopt.plot(result, picture="gantt"),
    ):
        assert figure == of_result


def test_plot_of_an_instance_draws_its_picture_or_its_numbers(instance):
    assert gadgetopt.plot(instance).data
    assert gadgetopt.plot("instances/quickstart/marl_placement.json").data[0].type == "heatmap"


def test_plot_writes_a_file(result, tmp_path):
    gadgetopt.plot(result, out=tmp_path / "picture.json")
    assert (tmp_path / "picture.json").is_file()


def test_what_plot_cannot_draw_is_one_line(instance, result):
    with pytest.raises(InputError, match="'nope': sjf_bco has no such picture"):
        gadgetopt.plot(result, picture="nope")
    with pytest.raises(InputError, match="of type int, expected an instance, a result or a path"):
        gadgetopt.plot(3)
    with pytest.raises(InputError, match="'gantt' is of a solution"):
        gadgetopt.plot(instance, picture="gantt")
    alone = gadgetopt.solve(instance, "load_limit@highs")
    with pytest.raises(InputError, match="load_limit@highs has none"):
        gadgetopt.plot(alone)


@pytest.mark.parametrize("arguments", [(), ("time_indexed",), ("time_indexed", True)])
def test_show_says_what_the_command_prints(cli, instance, tiny, arguments):
    name, *with_instance = (*arguments,) if arguments else (None,)
    path = tiny / "e2_contention_pays.json" if with_instance else None
    options = ["--instance", path] if path else []
    code, out, _ = cli("show", "sjf_bco", *([name] if name else []), *options)
    assert code == 0
    shown = gadgetopt.show("sjf_bco", name, path)
    assert shown == out.removesuffix("\n")
    assert repr(shown) == shown._repr_markdown_() == shown


def test_show_takes_an_instance_for_its_system(instance):
    assert gadgetopt.show(instance) == gadgetopt.show("sjf_bco", instance=instance)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("mip/tiny/mixed.lp", ["mixed (mip: Any mixed-integer", "rows: 2", "format: lp"]),
        ("quickstart/knapsack.json", ["knapsack (knapsack: ", "items: 20", "seed: 0"]),
    ],
)
def test_show_of_a_file_says_its_system_name_size_features_and_origin(cli, root, file, said):
    path = root / "instances" / file
    code, out, _ = cli("show", path)
    lines = out.splitlines()
    assert code == 0
    for begin in said:
        assert any(line.startswith(begin) for line in lines), begin
    assert lines[0].startswith(said[0])
    assert len(lines) > 10
    shown = out.removesuffix("\n")
    assert shown == gadgetopt.show(path) == gadgetopt.show(str(path))
    assert shown == gadgetopt.show(gadgetopt.read(path))


def test_show_of_a_file_and_a_formulation_writes_its_model_out(cli, root):
    file = root / "instances/mip/tiny/mixed.lp"
    code, out, _ = cli("show", file, "model")
    assert (code, "max 3*x[x] + 1/2*x[y]" in out) == (0, True)
    assert out == cli("show", "mip", "model", "--instance", file)[1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["missing.lp"], "missing.lp: cannot be read"),
        (["nothing"], "'nothing' is not a known problem"),
        (["instances/mip/tiny/mixed.lp", "algorithm"], "mip: has no algorithm to show"),
        (["instances/mip/tiny/mixed.lp", "nothing"], "formulation 'nothing'"),
    ],
)
def test_what_show_cannot_show_is_one_line(cli, given, said):
    code, _, err = cli("show", *given)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


def test_show_says_the_algorithm_of_the_paper_as_code(cli, instance):
    code, out, _ = cli("show", "sjf_bco", "algorithm")
    shown = gadgetopt.show("sjf_bco", "algorithm")
    assert code == 0
    assert shown == out.removesuffix("\n") == gadgetopt.show(instance, "algorithm")
    assert shown.startswith('r"""Algorithms 1-3')
    assert shown._repr_markdown_() == f"```python\n{shown}\n```"
    compile(shown, "plain.py", "exec")


def test_a_system_without_an_algorithm_is_one_line(cli, tiny):
    code, _, err = cli("show", "mip", "algorithm")
    assert code == 2
    assert "mip: has no algorithm to show" in err
    with pytest.raises(InputError, match="the same for all of them"):
        gadgetopt.show("sjf_bco", "algorithm", tiny / "e2_contention_pays.json")


def test_what_a_function_declares_has_its_algorithm_beside_it(tmp_path, monkeypatch):
    folder = tmp_path / "declared_elsewhere"
    (folder / "algorithms").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "evaluate.py").write_text("def evaluate(instance, solution): ...\n")
    (folder / "algorithms" / "plain.py").write_text("step = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("declared_elsewhere.evaluate")
    system = replace(gadgetopt.problem("sjf_bco"), evaluate=module.evaluate)
    assert gadgetopt.show(system, "algorithm") == "step = 1"
