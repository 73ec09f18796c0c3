"""Layers of exported programs: operations as PyTorch counts them, boundaries by hand."""

from __future__ import annotations

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.pieces.transformers.exported_layers import layers_of_program
from gadgetopt.pieces.transformers.exported_program import read_exported_program

from .exported import node, perceptron, program, write


def layers(tmp_path, content, prefix=""):
    return layers_of_program(read_exported_program(write(tmp_path / "net.pt2", content)), prefix)


def test_a_perceptron_by_hand(tmp_path):
    """3 samples of 4 numbers: 2*3*4*4 = 96 operations; the input has no gradient."""
    (first, second), warnings = layers(tmp_path, perceptron())
    assert (first.fwd_flops, first.input_grad_flops, first.weight_grad_flops) == (96, 0, 96)
    assert (second.fwd_flops, second.input_grad_flops, second.weight_grad_flops) == (96, 96, 96)
    assert (first.param_bytes, first.boundary_bytes, first.stash_bytes) == (64, 48, 48)
    assert second.boundary_bytes == 0
    assert not warnings


def test_what_passes_over_a_layer_crosses_both_boundaries_and_is_said(tmp_path):
    content = perceptron(3)
    content["graph_module"]["graph"]["nodes"].append(
        node("add", "sum", "layers.2", self="y2", other="y0")
    )
    content["graph_module"]["graph"]["tensor_values"]["sum"] = {
        "dtype": 7,
        "sizes": [{"as_int": 3}, {"as_int": 4}],
    }
    content["graph_module"]["graph"]["outputs"] = [{"as_tensor": {"name": "sum"}}]
    found, warnings = layers(tmp_path, content)
    assert [layer.boundary_bytes for layer in found] == [48, 96, 0]
    assert [warning.split(":")[0] for warning in warnings] == ["y0 of layers.0 is read by layers.2"]


def test_a_shared_parameter_counts_once_and_is_said(tmp_path):
    content = perceptron(2)
    nodes = content["graph_module"]["graph"]["nodes"]
    nodes[1] = node("linear", "y1", "layers.1", input="y0", weight="w0")
    found, warnings = layers(tmp_path, content)
    assert [layer.param_bytes for layer in found] == [64, 0]
    assert warnings[0].startswith("w0 is read by layers.0 and layers.1, and counted in the first")


def test_parts_of_a_module_that_run_twice_are_refused(tmp_path):
    content = perceptron(3)
    nodes = content["graph_module"]["graph"]["nodes"]
    nodes[2] = node("linear", "y2", "layers.0", input="y1", weight="w0")
    with pytest.raises(InputError, match=r"layers\.0 runs again after layers\.1"):
        layers(tmp_path, content)


def test_modules_without_numbered_parts_are_refused(tmp_path):
    shapes = {"x": (3, 4), "w": (4, 4), "y": (3, 4)}
    content = program([node("linear", "y", "head", input="x", weight="w")], shapes, ["w"])
    with pytest.raises(InputError, match="no module of the program has numbered parts"):
        layers(tmp_path, content)
    with pytest.raises(InputError, match="'blocks' is no module with numbered parts that run"):
        layers(tmp_path, perceptron(), "blocks")


@pytest.mark.parametrize("system", ["spp", "dapple"])
def test_programs_become_instances_whose_optimum_is_proved(tmp_path, system):
    path = write(tmp_path / "net.pt2", perceptron(4))
    (document,) = gadgetopt.import_("torch-export", path, system, cluster="dgx-h100", machines=2)
    assert document.name == "net_dgx-h100x2_m16"
    assert gadgetopt.solve(document).bound_voucher == "verified"
    with pytest.raises(InputError, match="cluster: is missing"):
        gadgetopt.import_("torch-export", path, system)


def test_operations_are_those_that_torch_counts(tmp_path):
    torch = pytest.importorskip("torch", reason="pip install 'gadgetopt[learn]'")
    from torch.utils.flop_counter import FlopCounterMode

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.LayerNorm(8)
            self.qkv, self.out = torch.nn.Linear(8, 24), torch.nn.Linear(8, 8)

        def forward(self, x):
            parts = self.qkv(self.norm(x)).chunk(3, -1)
            q, k, v = (y.view(2, 5, 2, 4).transpose(1, 2) for y in parts)
            y = (q @ k.transpose(-1, -2)).softmax(-1) @ v
            return x + self.out(y.transpose(1, 2).reshape(2, 5, 8))

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = torch.nn.Embedding(11, 8)
            self.layers = torch.nn.ModuleList([Block(), Block()])
            self.head = torch.nn.Linear(8, 11)

        def forward(self, ids):
            x = self.words(ids)
            for layer in self.layers:
                x = layer(x)
            return self.head(x)

    net, ids = Net(), torch.zeros(2, 5, dtype=torch.long)
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(net, (ids,)), path)
    found, warnings = layers_of_program(read_exported_program(path))
    assert [layer.name for layer in found] == ["before", "layers.0", "layers.1", "after"]
    assert not warnings
    with FlopCounterMode(display=False) as forward:
        loss = net(ids).sum()
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    assert sum(layer.fwd_flops for layer in found) == forward.get_total_flops()
    gradients = sum(layer.input_grad_flops + layer.weight_grad_flops for layer in found)
    assert gradients == backward.get_total_flops()
    size = sum(p.numel() * 4 for p in net.parameters())
    assert sum(layer.param_bytes for layer in found) == size
    assert [layer.boundary_bytes for layer in found] == [2 * 5 * 8 * 4] * 3 + [0]
