"""Exported programs: their graphs compute what PyTorch computes, gradients and all."""

from __future__ import annotations

import numpy as np
import pytest
from pieces.transformers.exported import node, perceptron, program, write

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.oneflow_sbp.proving.kernels import compute


def imported(path, **options):
    (document,) = gadgetopt.import_(
        "torch-export", path, "oneflow_sbp", **{"devices": 2, **options}
    )
    return document


def test_a_perceptron_becomes_products_and_is_proved(tmp_path):
    document = imported(write(tmp_path / "net.pt2", perceptron()))
    assert [(o.name, o.kind) for o in document.data.operators[:5]] == [
        ("x", "source"),
        ("w0", "variable"),
        ("y0", "matmul"),
        ("w1", "variable"),
        ("y1", "matmul"),
    ]
    assert sum(o.kind == "update" for o in document.data.operators) == 2
    assert gadgetopt.solve(document).bound_voucher == "verified"


def test_an_operator_of_no_kind_splits_samples_and_says_so(tmp_path):
    nodes = [
        node("linear", "y", input="x", weight="w"),
        node("strange", "z", input="y", weight="v"),
    ]
    shapes = {"x": (4, 3), "w": (5, 3), "y": (4, 5), "v": (2, 2), "z": (4, 6)}
    path = write(tmp_path / "net.pt2", program(nodes, shapes, ["w", "v"]))
    document = imported(path)
    warning = "strange (1 times): assumed to treat samples one by one"
    assert document.origin["warnings"] == [warning]
    listed = {o.name: o.signatures for o in document.data.operators if o.kind == "custom"}
    rows = {k: [(s.inputs, s.output, s.compute) for s in listed[k]] for k in listed}
    assert rows["z"] == [(("S0", "B"), "S0", 12), (("B", "B"), "B", 24)]
    assert rows["d_v"] == [(("S0", "S0", "B"), "P", 12), (("B",) * 3, "B", 24)]
    assert rows["d_y"][0][:2] == (("S0", "S0", "B"), "S0")
    assert gadgetopt.solve(document).bound_voucher == "verified"
    assert len(imported(path, devices="2x2").data.tables.signatures[4]) == 4


@pytest.mark.parametrize(
    ("operator", "arguments", "expected"),
    [
        ("add", {"self": "x", "other": "x", "alpha": 2}, "add with a factor (1 times)"),
        ("relu_", {"self": "x"}, "in place: save export(...).run_decompositions({})"),
        ("sum", {"self": "x"}, "sum over all axes"),
        (
            "linear",
            {"input": "x", "weight": "x"},
            "nodes[0] (linear): y has shape 4x3, expected 4x4",
        ),
    ],
)
def test_what_is_not_supported_is_named(tmp_path, operator, arguments, expected):
    content = program([node(operator, "y", **arguments)], {"x": (4, 3), "y": (4, 3)})
    with pytest.raises(InputError) as caught:
        imported(write(tmp_path / "net.pt2", content))
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def values_of(instance, given):
    """Return what every operator computes from the given sources and variables."""
    values = {}
    for o in instance.operators:
        if o.kind in ("source", "variable"):
            values[o.name] = given[o.name].reshape(o.shape)
        elif o.kind != "update":
            inputs = [values[x] for x in o.inputs]
            values[o.name] = compute(o.kind, o.attributes, inputs, o.shape)
    return values


def check_as_torch(tmp_path, make, batch, constants=()):
    """Compare logits and the gradients of all parameters with PyTorch's, in double precision."""
    torch = pytest.importorskip("torch", reason="pip install 'gadgetopt[learn]'")
    torch.manual_seed(1)
    net = make(torch).double()
    inputs = tuple(torch.as_tensor(x) for x in batch)
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(net, inputs), path)
    logits = net(*inputs)
    classes = torch.arange(logits[..., 0].numel()).reshape(logits.shape[:-1]) % logits.shape[-1]
    torch.nn.functional.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), classes.reshape(-1), reduction="sum"
    ).backward()
    document = imported(path)
    assert "warnings" not in document.origin
    instance = document.data
    parameters = {name: p.detach().numpy() for name, p in net.named_parameters()}
    sources = [o.name for o in instance.operators if o.kind == "source"]
    others = [name for name in sources if name not in ("classes", *constants)]
    given = {**parameters, **dict(zip(others, batch, strict=True)), **dict(constants)}
    values = values_of(instance, {**given, "classes": classes.numpy()})
    last = next(o for o in instance.operators if o.kind == "cross_entropy_grad")
    np.testing.assert_allclose(values[last.inputs[0]], logits.detach().numpy(), atol=1e-9)
    updates = {o.inputs[0]: values[o.inputs[1]] for o in instance.operators if o.kind == "update"}
    assert updates.keys() == parameters.keys()
    for name, parameter in net.named_parameters():
        np.testing.assert_allclose(updates[name], parameter.grad.numpy(), atol=1e-4, err_msg=name)


def test_a_transformer_has_torch_s_logits_and_gradients(tmp_path):
    def make(torch):
        nn = torch.nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.words, self.norm = nn.Embedding(7, 8), nn.LayerNorm(8)
                self.q, self.kv = nn.Linear(8, 8), nn.Linear(8, 8, bias=False)
                self.up, self.down = nn.Linear(8, 6), nn.Linear(6, 5)

            def forward(self, ids):
                x = self.words(ids)
                y = self.norm(x)
                q = self.q(y).view(2, 4, 4, 2).transpose(1, 2)
                k, v = self.kv(y).view(2, 4, 4, 2).transpose(1, 2).chunk(2, 1)
                z = nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
                x = x + z.transpose(1, 2).reshape(2, 4, 8)
                return self.down(nn.functional.silu(self.up(x)))

        return Net()

    check_as_torch(tmp_path, make, [np.arange(8).reshape(2, 4) % 7])


def test_other_operators_have_torch_s_logits_and_gradients(tmp_path):
    def make(torch):
        nn = torch.nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Sequential(nn.Linear(6, 8), nn.ReLU(inplace=True))
                self.scale = nn.Parameter(torch.rand(1, 8))
                self.other = nn.Parameter(torch.rand(8, 3))

            def forward(self, x):
                y = self.first(x) * self.scale
                a, b = y.split([3, 5], dim=1)
                z = torch.cat([b, -a], dim=-1) / 2 - y
                z = z.pow(2) + self.scale.expand(4, 8)
                z = z.tanh()[:, 1:].sigmoid()
                z = torch.cat([z, y.select(1, 0).unsqueeze(1)], dim=1)
                z = torch.einsum("bi,ij->bj", z, self.other)
                z = torch.addmm(z, y, self.other)
                w = z.unsqueeze(1).expand(4, 2, 3).permute(0, 2, 1)
                return w.mean(dim=2) + w.sum(dim=-1, keepdim=True).flatten(1)

        return Net()

    check_as_torch(tmp_path, make, [np.random.default_rng(0).random((4, 6))])
