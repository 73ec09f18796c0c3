"""Archives of exported programs are read, or refused by one line that names the place."""

from __future__ import annotations

import zipfile

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.transformers.exported_program import Ref, read_exported_program

from .exported import node, perceptron, program, tensor, write


def test_calls_tensors_and_parameters(tmp_path):
    found = read_exported_program(write(tmp_path / "net.pt2", perceptron()))
    assert [call.operator for call in found.calls] == ["linear", "linear"]
    assert found.calls[1].arguments == {"input": Ref("y0"), "weight": Ref("w1")}
    assert [call.module for call in found.calls] == ["layers.0", "layers.1"]
    assert found.parameters == {"w0": "w0", "w1": "w1"}
    assert (found.inputs, found.output) == (("x",), "y1")
    assert found.tensors["y0"].bytes == 3 * 4 * 4
    assert found.trained() == {"w0", "w1", "y0", "y1"}


def test_what_depends_on_nothing_is_a_constant(tmp_path):
    nodes = [
        node("ones", "one", size={"as_ints": [3, 4]}),
        node("mul", "y", self="x", other="one"),
    ]
    content = program(nodes, {"x": (3, 4), "one": (3, 4), "y": (3, 4)})
    assert read_exported_program(write(tmp_path / "net.pt2", content)).varying == {"x", "y"}


def broken(change):
    content = perceptron()
    change(content)
    return content


def graph(content):
    return content["graph_module"]["graph"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (broken(lambda c: c.pop("schema_version")), "schema_version: Field required"),
        (broken(lambda c: c["schema_version"].update(major=7)), "schema_version.major: 7, expect"),
        (
            broken(lambda c: graph(c)["tensor_values"].pop("y0")),
            "tensor_values: 'y0' is missing",
        ),
        (
            broken(lambda c: graph(c)["tensor_values"]["x"].update(sizes=[{"as_expr": {}}])),
            "tensor_values.x: an extent is open, export without dynamic_shapes",
        ),
        (
            broken(lambda c: graph(c)["tensor_values"]["x"].update(sizes=[{"as_int": 0}])),
            "tensor_values.x: extents [0], expected positive numbers",
        ),
        (
            broken(lambda c: graph(c)["tensor_values"]["x"].update(dtype=10)),
            "tensor_values.x: dtype 10, expected one of real or whole numbers",
        ),
        (broken(lambda c: graph(c)["nodes"].reverse()), "nodes[0]: 'y0' is computed by no node"),
        (
            broken(lambda c: graph(c)["nodes"][0]["inputs"][0].update(arg={"as_graph": {}})),
            "input: control flow",
        ),
        (broken(lambda c: graph(c).update(outputs=[])), "outputs: no tensor that depends on"),
        (broken(lambda c: graph(c).update(outputs=[tensor("nothing")])), "outputs: no tensor"),
        (broken(lambda c: graph(c)["nodes"][0].pop("target")), "nodes.0.target: Field required"),
    ],
)
def test_a_broken_graph_is_refused_by_its_place(tmp_path, content, expected):
    path = write(tmp_path / "net.pt2", content)
    with pytest.raises(InputError) as caught:
        read_exported_program(path)
    assert expected in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_what_is_no_archive_is_refused(tmp_path):
    path = tmp_path / "net.pt2"
    for content in (b"", b"nothing", b"PK\x03\x04"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"expected an archive of torch\.export\.save"):
            read_exported_program(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/data/weights", "")
    with pytest.raises(InputError, match=r"0 graphs models/NAME\.json"):
        read_exported_program(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_exported_program(tmp_path / "missing.pt2")
