"""Operators of exported PyTorch programs as kinds of operators.

Activations whose gradient has the shape and cost of another's are counted as that, as in ONNX
files. Attention becomes its two products with a softmax between them.

An operator of no kind gets signatures of its own, and a warning: tensors whose first axis is that
of its output are split there, the others whole; or all are whole. Its gradients have such
signatures, too; those of parameters are then partial sums. That is right for what treats samples
one by one, as convolutions do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from gadgetopt.pieces.transformers.exported_operators import RESHAPED, VIEWS, flops_of
from gadgetopt.pieces.transformers.exported_program import Call, ExportedProgram, Ref

from ...labels import Shape
from ...shapes import text
from ..generate.by_samples import BySamples
from ..generate.training import Graph

#: What does nothing, or changes the type of numbers only.
_PASSED = (
    "contiguous",
    "clone",
    "alias",
    "detach",
    "detach_",
    "lift_fresh_copy",
    "to",
    "_to_copy",
    "type_as",
    "float",
    "dropout",
    "_assert_tensor_metadata",
)
_ELEMENTWISE = {
    "relu": "relu",
    "leaky_relu": "relu",
    "gelu": "gelu",
    "elu": "gelu",
    "softplus": "gelu",
    "mish": "gelu",
    "hardswish": "gelu",
    "tanh": "tanh",
    "erf": "tanh",
    "sigmoid": "sigmoid",
    "hardsigmoid": "sigmoid",
}


class NotSupported(Exception):
    """An operator, or a form of it, that is not supported."""


class Conversion:
    """The graph of operators while the calls of a program are converted.

    Parameters
    ----------
    program : ExportedProgram
    hierarchy : tuple of int
        Of the devices, for signatures of operators of no kind.

    Attributes
    ----------
    graph : Graph
    tensors : dict
        The operator that holds every tensor converted so far.
    guessed : Counter of str
        Operators of no kind.
    """

    def __init__(self, program: ExportedProgram, hierarchy: tuple[int, ...]):
        self.program, self.hierarchy = program, hierarchy
        self.graph: Graph = Graph(dtype_bytes=_most_frequent_bytes(program))
        self.tensors: dict[str, str] = {}
        self.guessed: Counter[str] = Counter()
        self.last_use = {name: k for k, c in enumerate(program.calls) for name in c.tensors}
        self.made_by = {name: call for call in program.calls for name in call.outputs}
        self.rules: dict[str, Callable[[Call, str], str]] = {
            "linear": self._linear,
            "addmm": self._addmm,
            "mm": self._product,
            "bmm": self._product,
            "matmul": self._product,
            "einsum": self._einsum,
            "scaled_dot_product_attention": self._attention,
            "add": self._add,
            "sub": self._subtract,
            "mul": self._multiply,
            "div": self._divide,
            "neg": lambda call, name: self.graph.add(name, "scale", self._of(call), factor=-1.0),
            "pow": self._power,
            "silu": self._silu,
            "softmax": self._softmax,
            "_softmax": self._softmax,
            "layer_norm": self._norm,
            "rms_norm": self._norm,
            "sum": self._reduce,
            "mean": self._reduce,
            "embedding": self._embedding,
            "transpose": self._transpose,
            "t": self._transpose,
            "permute": self._transpose,
            "chunk": self._split,
            "split": self._split,
            "split_with_sizes": self._split,
            "unbind": self._unbind,
            "slice": self._slice,
            "narrow": self._slice,
            "select": self._select,
            "cat": self._cat,
            "expand": self._expand,
        }

    def convert(self, number: int, call: Call) -> None:
        """Add a call's operators; one of constants alone adds none until its result is used.

        Raises
        ------
        NotSupported
            If it is not supported.
        ValueError
            If shapes do not fit.
        """
        kind = call.operator
        if not self.program.varying.intersection(call.outputs):
            return
        name = call.outputs[0]
        if kind.endswith("_") and kind not in _PASSED:
            kind = self._out_of_place(number, call)
        if kind in _PASSED:
            self.tensors[name] = self._of(call)
        elif kind in RESHAPED:
            self.tensors[name] = self._reshaped(name, self._of(call), self._shape(name))
        elif kind in _ELEMENTWISE:
            self.tensors[name] = self.graph.add(name, _ELEMENTWISE[kind], self._of(call))
        elif kind in self.rules:
            self.tensors[name] = self.rules[kind](call, name)
        elif len(call.outputs) > 1:
            raise NotSupported(f"{kind} with {len(call.outputs)} results")
        else:
            self.tensors[name] = self._unknown(call, name)
        for output in call.outputs:
            found, said = self.graph.shape(self.tensors[output]), self._shape(output)
            if found != said:
                raise ValueError(f"{output} has shape {text(said)}, expected {text(found)}")

    def give_up(self, call: Call) -> None:
        """Let a call that is not supported be a source, so that others can be named, too."""
        for name in call.outputs:
            self.tensors[name] = self.graph.source(name, *self._shape(name))

    def tensor(self, name: str) -> str:
        """Return the operator that holds a tensor; a parameter or a constant becomes one."""
        if name not in self.tensors:
            shape = self._shape(name)
            if name in self.program.parameters:
                self.tensors[name] = self.graph.variable(self.program.parameters[name], *shape)
            else:
                self.tensors[name] = self.graph.source(name, *shape)
        return self.tensors[name]

    def _shape(self, name: str) -> Shape:
        """Return the shape of a tensor; a number has an axis, so that it is a tensor."""
        return self.program.tensors[name].shape or (1,)

    def _of(self, call: Call, slot: int = 0) -> str:
        return self.tensor(call.tensors[slot])

    def _operand(self, call: Call, argument: str) -> str | float | None:
        """Return the operator of an argument, its value if it is a number."""
        value = call.arguments.get(argument)
        return self.tensor(value.name) if isinstance(value, Ref) else value

    def _integer(self, call: Call, argument: str, default: int) -> int:
        value = call.arguments.get(argument, default)
        if not isinstance(value, int):
            raise NotSupported(f"{call.operator} with {argument} that depends on data")
        return value

    def _out_of_place(self, number: int, call: Call) -> str:
        """Return the operator that has the result; nothing else may see what it overwrites."""
        given = call.tensors[0]
        maker = self.made_by.get(given)
        viewed = maker is not None and maker.operator in VIEWS
        if self.last_use[given] > number or viewed or given not in self.made_by:
            raise NotSupported(
                f"{call.operator} in place: save export(...).run_decompositions({{}}) instead"
            )
        return call.operator.removesuffix("_")

    # -- products ----------------------------------------------------------------------------------

    def _linear(self, call: Call, name: str) -> str:
        x, weight = self._of(call), self._of(call, 1)
        if call.arguments.get("bias") is None:
            return self.graph.add(name, "matmul", x, weight, transpose_b=True)
        out = self.graph.add(f"{name}_product", "matmul", x, weight, transpose_b=True)
        return self.graph.add(name, "bias_add", out, self._of(call, 2))

    def _addmm(self, call: Call, name: str) -> str:
        if call.arguments.get("beta", 1) != 1 or call.arguments.get("alpha", 1) != 1:
            raise NotSupported("addmm with factors")
        out = self.graph.add(f"{name}_product", "matmul", self._of(call, 1), self._of(call, 2))
        return self._sum(name, out, self._of(call))

    def _product(self, call: Call, name: str) -> str:
        a, b = self._of(call), self._of(call, 1)
        left, right = self.graph.shape(a), self.graph.shape(b)
        if len(left) < 2 or len(right) < 2:
            raise NotSupported("products of vectors")
        if len(right) != 2 and (len(left) != len(right) or left[:-2] != right[:-2]):
            raise NotSupported("products whose leading axes differ")
        return self.graph.add(name, "matmul", a, b)

    def _einsum(self, call: Call, name: str) -> str:
        equation = str(call.arguments.get("equation", "")).replace(" ", "")
        if "..." in equation or "->" not in equation:
            raise NotSupported("einsum without all axes written")
        operands = [self.tensor(x) for x in call.tensors]
        return self.graph.add(name, "einsum", *operands, equation=equation)

    def _attention(self, call: Call, name: str) -> str:
        query, key, value = (self._of(call, slot) for slot in range(3))
        shape, groups = self.graph.shape(query), self.graph.shape(key)[1]
        if len(shape) != 4:
            raise NotSupported("attention but of batch, head, position and element")
        batch, heads, length, elements = shape
        grouped = heads != groups
        if grouped:
            parts = (batch, groups, heads // groups, length, elements)
            query = self.graph.reshape(f"{name}_query", query, *parts)
        many = "bghse" if grouped else "bgse"
        scores_axes = many[:-1] + "t"
        scores = self.graph.add(
            f"{name}_scores", "einsum", query, key, equation=f"{many},bgte->{scores_axes}"
        )
        scores = self.graph.add(f"{name}_scaled", "scale", scores, factor=elements**-0.5)
        mask = call.arguments.get("attn_mask")
        if isinstance(mask, Ref):
            if grouped:
                raise NotSupported("attention with a mask and groups of heads")
            scores = self.graph.add(f"{name}_masked", "add", scores, self.tensor(mask.name))
        weights = self.graph.add(f"{name}_weights", "softmax", scores)
        last = f"{name}_heads" if grouped else name
        out = self.graph.add(
            last, "einsum", weights, value, equation=f"{scores_axes},bgtf->{many[:-1]}f"
        )
        return self._reshaped(name, out, self._shape(name)) if grouped else out

    # -- element by element ------------------------------------------------------------------------

    def _sum(self, name: str, a: str, b: str) -> str:
        if len(self.graph.shape(a)) < len(self.graph.shape(b)):
            a, b = b, a
        shape = self.graph.shape(b)
        if len(shape) == 1 and shape == self.graph.shape(a)[-1:]:
            return self.graph.add(name, "bias_add", a, b)
        return self.graph.add(name, "add", a, b)

    def _add(self, call: Call, name: str) -> str:
        other = self._operand(call, "other")
        if call.arguments.get("alpha", 1) != 1:
            raise NotSupported("add with a factor")
        if isinstance(other, str):
            return self._sum(name, self._of(call), other)
        return self._of(call)  # a number added changes neither shape, cost nor gradient

    def _subtract(self, call: Call, name: str) -> str:
        other = self._operand(call, "other")
        if call.arguments.get("alpha", 1) != 1:
            raise NotSupported("sub with a factor")
        if isinstance(other, str):
            return self.graph.add(name, "subtract", self._of(call), other)
        return self._of(call)

    def _multiply(self, call: Call, name: str) -> str:
        other = self._operand(call, "other")
        if isinstance(other, str):
            return self.graph.add(name, "multiply", self._of(call), other)
        return self.graph.add(name, "scale", self._of(call), factor=float(other or 0))

    def _divide(self, call: Call, name: str) -> str:
        other = self._operand(call, "other")
        if isinstance(other, str) or not other or call.arguments.get("rounding_mode"):
            return self._unknown(call, name)
        return self.graph.add(name, "scale", self._of(call), factor=1 / float(other))

    def _power(self, call: Call, name: str) -> str:
        if call.arguments.get("exponent") != 2:
            return self._unknown(call, name)
        return self.graph.add(name, "multiply", self._of(call), self._of(call))

    def _silu(self, call: Call, name: str) -> str:
        gate = self.graph.add(f"{name}_sigmoid", "sigmoid", self._of(call))
        return self.graph.add(name, "multiply", self._of(call), gate)

    def _softmax(self, call: Call, name: str) -> str:
        rank = len(self._shape(name))
        if self._integer(call, "dim", -1) not in (-1, rank - 1):
            return self._unknown(call, name)
        return self.graph.add(name, "softmax", self._of(call))

    def _norm(self, call: Call, name: str) -> str:
        if len(call.arguments.get("normalized_shape", ())) != 1:
            return self._unknown(call, name)
        operands = [self.tensor(x) for x in call.tensors]
        return self.graph.add(name, "layer_norm", *operands)

    # -- axes --------------------------------------------------------------------------------------

    def _reshaped(self, name: str, tensor: str, shape: Shape) -> str:
        same = shape == self.graph.shape(tensor)
        return tensor if same else self.graph.reshape(name, tensor, *shape)

    def _axis(self, call: Call, argument: str = "dim", default: int = 0) -> int:
        rank = len(self.graph.shape(self.tensor(call.tensors[0])))
        return self._integer(call, argument, default) % rank

    def _reduce(self, call: Call, name: str) -> str:
        x = self._of(call)
        shape = self.graph.shape(x)
        axes = sorted(a % len(shape) for a in call.arguments.get("dim") or range(len(shape)))
        flags = {"keep_axes": True} if call.arguments.get("keepdim") else {}
        if len(axes) == len(shape) and not flags:
            raise NotSupported(f"{call.operator} over all axes")
        last = name if call.operator == "sum" else f"{name}_sum"
        total = self.graph.add(last, "reduce_sum", x, axes=tuple(axes), **flags)
        if call.operator == "sum":
            return total
        count = math.prod(shape[a] for a in axes)
        return self.graph.add(name, "scale", total, factor=1 / count)

    def _embedding(self, call: Call, name: str) -> str:
        return self.graph.add(name, "embedding", self._of(call), self._of(call, 1))

    def _transpose(self, call: Call, name: str) -> str:
        x = self._of(call)
        rank = len(self.graph.shape(x))
        if call.operator == "permute":
            order = [a % rank for a in call.arguments.get("dims", ())]
        else:
            order = list(range(rank))
            one, other = (self._axis(call, f"dim{k}", k) for k in range(2)) if rank > 1 else (0, 0)
            order[one], order[other] = other, one
        return self.graph.add(name, "transpose", x, permutation=tuple(order))

    def _cut(self, name: str, tensor: str, axis: int, start: int, rows: int) -> str:
        if rows == self.graph.shape(tensor)[axis]:
            return tensor
        return self.graph.add(name, "slice", tensor, axis=axis, start=start, rows=rows)

    def _split(self, call: Call, name: str) -> str:
        x, axis, start = self._of(call), self._axis(call), 0
        for output in call.outputs:
            rows = self._shape(output)[axis]
            self.tensors[output] = self._cut(output, x, axis, start, rows)
            start += rows
        return self.tensors[name]

    def _unbind(self, call: Call, name: str) -> str:
        x, axis = self._of(call), self._axis(call)
        for start, output in enumerate(call.outputs):
            row = self._cut(f"{output}_row", x, axis, start, 1)
            self.tensors[output] = self._reshaped(output, row, self._shape(output))
        return self.tensors[name]

    def _slice(self, call: Call, name: str) -> str:
        if self._integer(call, "step", 1) != 1:
            raise NotSupported("slice with steps")
        x, axis = self._of(call), self._axis(call)
        start = self._integer(call, "start", 0) if call.arguments.get("start") is not None else 0
        extent = self.graph.shape(x)[axis]
        start = min(max(start + extent if start < 0 else start, 0), extent)
        return self._cut(name, x, axis, start, self._shape(name)[axis])

    def _select(self, call: Call, name: str) -> str:
        x, axis = self._of(call), self._axis(call)
        start = self._integer(call, "index", 0) % self.graph.shape(x)[axis]
        row = self._cut(f"{name}_row", x, axis, start, 1)
        return self._reshaped(name, row, self._shape(name))

    def _cat(self, call: Call, name: str) -> str:
        operands = [self.tensor(x) for x in call.tensors]
        return self.graph.add(name, "concat", *operands, axis=self._axis(call))

    def _expand(self, call: Call, name: str) -> str:
        x, shape = self._of(call), self._shape(name)
        given = self.graph.shape(x)
        missing = len(shape) - len(given)
        aligned = (*(1,) * missing, *given)
        new = [a for a, (n, m) in enumerate(zip(shape, aligned, strict=True)) if n != m]
        kept = [n for a, n in enumerate(aligned) if a not in new and a >= missing]
        x = self._reshaped(f"{name}_kept", x, tuple(kept) or (1,))
        for axis in new:
            last = name if axis == new[-1] else f"{name}_axis{axis}"
            x = self.graph.add(last, "expand", x, axis=axis, rows=shape[axis])
        return self._reshaped(f"{name}_ones", x, shape)

    # -- operators of no kind ----------------------------------------------------------------------

    def _unknown(self, call: Call, name: str) -> str:
        """Add an operator whose signatures split samples, or nothing."""
        self.guessed[call.operator] += 1
        names = [self.tensor(x) for x in call.tensors]
        shape = self._shape(name)
        samples = tuple(
            tensor not in self.program.parameters and self.graph.shape(operator)[:1] == shape[:1]
            for operator, tensor in zip(names, call.tensors, strict=True)
        )
        work = flops_of(call, self.program.tensors) or math.prod(shape)
        assumed = BySamples(samples, work, self.hierarchy)
        return self.graph.add_by_samples(name, tuple(names), shape, assumed)


def _most_frequent_bytes(program: ExportedProgram) -> int:
    """Return the bytes of an element of most parameters."""
    sizes = Counter(program.tensors[name].element_bytes for name in program.parameters)
    return sizes.most_common(1)[0][0] if sizes else program.tensors[program.output].element_bytes
