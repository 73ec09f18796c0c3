"""The parts of an MSCCL program, and its XML.

The executor's own parser knows less than XML: no declaration in the first line, double quotes, one
blank before an attribute. What is written here keeps to that; what is read may be any XML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from gadgetopt.errors import InputError

#: Steps that take what arrives, and steps that send.
RECEIVING = frozenset({"r", "rcs", "rrc", "rrs", "rrcs"})
SENDING = frozenset({"s", "rcs", "rrs", "rrcs"})
#: Steps that read a chunk at `source`, and steps that write one at `target`.
READING = frozenset({"s", "rrc", "rrs", "rrcs", "cpy", "re"})
WRITING = frozenset({"r", "rcs", "rrc", "rrcs", "cpy", "re"})
#: Steps that add what arrives to the chunk at `source`.
ADDING = frozenset({"rrc", "rrs", "rrcs"})
KINDS = RECEIVING | SENDING | READING | WRITING | {"nop"}

BUFFERS = ("i", "o", "s")

#: Collectives that are checked; broadcast and reduce have a root that no file names.
COLLECTIVES = ("allreduce", "allgather", "reducescatter")


@dataclass(frozen=True)
class Place:
    """The first of some chunks: in the buffer "i" (input), "o" (output) or "s" (scratch)."""

    buffer: str
    offset: int


@dataclass(frozen=True)
class Step:
    """What a thread block does next.

    Attributes
    ----------
    kind : str
        s (send), r (receive), cpy (copy), re (add the source to the target), rcs (receive, copy,
        send), rrc (receive, add, copy), rrs (receive, add, send), rrcs (all of it), nop.
    source, target : Place
        What it reads and writes; a kind that does not is free to say anything.
    count : int
        Chunks.
    waits_for : (int, int), optional
        A thread block of the same GPU and its step that has to be done before.
    signals : bool
        If other blocks may wait for it.
    """

    kind: str
    source: Place
    target: Place
    count: int
    waits_for: tuple[int, int] | None = None
    signals: bool = False


@dataclass(frozen=True)
class Block:
    """A thread block: the peers that it sends to and receives from (-1: none), its channel."""

    send: int
    receive: int
    channel: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Gpu:
    """A GPU's thread blocks, and how many chunks its buffers hold."""

    input_chunks: int
    output_chunks: int
    scratch_chunks: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Program:
    """A collective as steps of thread blocks.

    Attributes
    ----------
    collective : str
        "allreduce", "allgather", "reducescatter" or another one of the executor.
    protocol : str
        "Simple", "LL128" or "LL".
    num_channels, num_chunks : int
        Chunks are those of the whole message.
    in_place, out_of_place : bool
        Whether it may be used with one buffer, and with two.
    """

    name: str
    collective: str
    protocol: str
    num_channels: int
    num_chunks: int
    in_place: bool
    out_of_place: bool
    gpus: tuple[Gpu, ...]
    min_bytes: int = 0
    max_bytes: int = 0

    @property
    def part(self) -> int:
        """Chunks of each GPU's part of an allgather or reduce-scatter."""
        return self.num_chunks // len(self.gpus)

    @property
    def input_chunks(self) -> int:
        """Chunks of each GPU's input."""
        return self.part if self.collective == "allgather" else self.num_chunks

    @property
    def output_chunks(self) -> int:
        """Chunks of each GPU's output."""
        return self.part if self.collective == "reducescatter" else self.num_chunks


# -- writing -----------------------------------------------------------------------------------


def write_program(program: Program, comments: Sequence[str] = ()) -> str:
    """Return a program as XML; comments come first."""
    lines = [f"<!-- {comment} -->" for comment in comments]
    top = {
        "name": program.name,
        "proto": program.protocol,
        "nchannels": program.num_channels,
        "nchunksperloop": program.num_chunks,
        "ngpus": len(program.gpus),
        "coll": program.collective,
        "inplace": int(program.in_place),
        "outofplace": int(program.out_of_place),
        "minBytes": program.min_bytes,
        "maxBytes": program.max_bytes,
    }
    lines.append(_tag("algo", top))
    for rank, gpu in enumerate(program.gpus):
        lines += _gpu_lines(rank, gpu)
    return "\n".join([*lines, "</algo>", ""])


def _gpu_lines(rank: int, gpu: Gpu) -> list[str]:
    sizes = {
        "id": rank,
        "i_chunks": gpu.input_chunks,
        "o_chunks": gpu.output_chunks,
        "s_chunks": gpu.scratch_chunks,
    }
    lines = ["  " + _tag("gpu", sizes)]
    for number, block in enumerate(gpu.blocks):
        peers = {"id": number, "send": block.send, "recv": block.receive, "chan": block.channel}
        lines.append("    " + _tag("tb", peers))
        lines += ["      " + _step_line(s, step) for s, step in enumerate(block.steps)]
        lines.append("    </tb>")
    return [*lines, "  </gpu>"]


def _step_line(number: int, step: Step) -> str:
    block, before = step.waits_for or (-1, -1)
    said = {
        "s": number,
        "type": step.kind,
        "srcbuf": step.source.buffer,
        "srcoff": step.source.offset,
        "dstbuf": step.target.buffer,
        "dstoff": step.target.offset,
        "cnt": step.count,
        "depid": block,
        "deps": before,
        "hasdep": int(step.signals),
    }
    return _tag("step", said, "/>")


def _tag(name: str, attributes: Mapping[str, object], end: str = ">") -> str:
    said = " ".join(f"{key}={_quoted(value)}" for key, value in attributes.items())
    return f"<{name} {said}{end}"


def _quoted(value: object) -> str:
    """Return a value in double quotes, which are the only ones that the executor knows."""
    quoted = quoteattr(str(value))
    return quoted if quoted.startswith('"') else quoteattr(str(value).replace('"', "'"))


# -- reading -----------------------------------------------------------------------------------


def read_program(text: str, where: str = "program") -> Program:
    """Read a program from XML.

    Raises
    ------
    InputError
        If the text is no XML, or an element or attribute is missing or wrong; the line begins with
        `where`.
    """
    if "<!DOCTYPE" in text:
        raise InputError(f"{where}: has a document type, which MSCCL programs do not have")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InputError(f"{where}: is not XML: {error}") from None
    if root.tag != "algo":
        raise InputError(f"{where}: begins with <{root.tag}>, expected <algo>")
    top = _Element(root, f"{where}: algo")
    gpus = [_Element(e, f"{where}: gpu {e.get('id')}") for e in root.findall("gpu")]
    stated = top.integer("ngpus")
    if [gpu.integer("id") for gpu in gpus] != list(range(stated)):
        raise InputError(f"{where}: expected GPUs of the ids 0 to {stated - 1}, in order")
    return Program(
        name=top.text("name"),
        collective=top.text("coll"),
        protocol=top.one_of("proto", ("Simple", "LL128", "LL")),
        num_channels=top.integer("nchannels"),
        num_chunks=top.integer("nchunksperloop", least=1),
        in_place=top.flag("inplace"),
        out_of_place=top.flag("outofplace"),
        gpus=tuple(map(_read_gpu, gpus)),
        min_bytes=top.integer("minBytes"),
        max_bytes=top.integer("maxBytes"),
    )


@dataclass(frozen=True)
class _Element:
    """An element of XML, and what it is called in messages."""

    element: ElementTree.Element
    where: str

    def text(self, name: str) -> str:
        value = self.element.get(name)
        if value is None:
            raise InputError(f"{self.where}: has no {name}")
        return value

    def one_of(self, name: str, allowed: Sequence[str]) -> str:
        value = self.text(name)
        if value not in allowed:
            raise InputError(f"{self.where}: {name} {value!r}, expected {', '.join(allowed)}")
        return value

    def integer(self, name: str, least: int = 0) -> int:
        value = self.text(name)
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
            raise InputError(f"{self.where}: {name} {value!r}, expected an integer")
        if int(value) < least:
            raise InputError(f"{self.where}: {name} {value}, expected at least {least}")
        return int(value)

    def flag(self, name: str) -> bool:
        return self.one_of(name, ("0", "1")) == "1"


def _read_gpu(gpu: _Element) -> Gpu:
    blocks = [_Element(e, f"{gpu.where}, block {e.get('id')}") for e in gpu.element.findall("tb")]
    if [block.integer("id") for block in blocks] != list(range(len(blocks))):
        raise InputError(f"{gpu.where}: expected thread blocks of the ids 0, 1, ... in order")
    return Gpu(
        gpu.integer("i_chunks"),
        gpu.integer("o_chunks"),
        gpu.integer("s_chunks"),
        tuple(map(_read_block, blocks)),
    )


def _read_block(block: _Element) -> Block:
    steps = [
        _Element(e, f"{block.where}, step {e.get('s')}") for e in block.element.findall("step")
    ]
    if [step.integer("s") for step in steps] != list(range(len(steps))):
        raise InputError(f"{block.where}: expected steps of the numbers 0, 1, ... in order")
    return Block(
        block.integer("send", least=-1),
        block.integer("recv", least=-1),
        block.integer("chan", least=-1),
        tuple(map(_read_step, steps)),
    )


def _read_step(step: _Element) -> Step:
    block, before = step.integer("depid", least=-1), step.integer("deps", least=-1)
    return Step(
        step.one_of("type", sorted(KINDS)),
        Place(step.one_of("srcbuf", BUFFERS), step.integer("srcoff", least=-1)),
        Place(step.one_of("dstbuf", BUFFERS), step.integer("dstoff", least=-1)),
        step.integer("cnt"),
        None if block < 0 else (block, before),
        step.flag("hasdep"),
    )
