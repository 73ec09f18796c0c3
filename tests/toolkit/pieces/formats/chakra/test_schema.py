"""Chakra traces are read by protobuf itself, with the part of the schema that they need."""

import pytest

from gadgetopt.pieces.formats.chakra import wire
from gadgetopt.pieces.formats.chakra.traces import encode
from gadgetopt.pieces.formats.chakra.work import Transfer, Work, trace_of

descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")

#: Fields of the messages of `et_def.proto`: number, type, whether repeated.
MESSAGES = {
    "Attribute": {
        "name": (1, "STRING", False),
        "int32_val": (7, "INT32", False),
        "int64_val": (9, "INT64", False),
        "uint64_val": (13, "UINT64", False),
        "bool_val": (27, "BOOL", False),
        "string_val": (29, "STRING", False),
    },
    "GlobalMetadata": {"version": (1, "STRING", False), "attr": (2, "Attribute", True)},
    "Node": {
        "id": (1, "UINT64", False),
        "name": (2, "STRING", False),
        "type": (3, "INT32", False),
        "ctrl_deps": (4, "UINT64", True),
        "data_deps": (5, "UINT64", True),
        "start_time_micros": (6, "UINT64", False),
        "duration_micros": (7, "UINT64", False),
        "attr": (10, "Attribute", True),
    },
}


def classes():
    """Return the classes of the messages, made without a compiler of schemas."""
    from google.protobuf import descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="et.proto", package="et", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    for message, fields in MESSAGES.items():
        made = file.message_type.add(name=message)
        for name, (number, kind, repeated) in fields.items():
            field = made.field.add(name=name, number=number)
            field.label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
            if kind in MESSAGES:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".et.{kind}"
            else:
                field.type = getattr(kinds, f"TYPE_{kind}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"et.{name}"))
        for name in MESSAGES
    }


def test_protobuf_reads_what_is_written():
    sent = Transfer("activation 0", 0, 1, 5, 10**12)
    work = [
        Work("0F0", 300, sends=(sent,)),
        Work("sum", 0, group="stage 0", num_bytes=77),
    ]
    data, at, messages = encode(trace_of(work, {"stage": "0"})), 0, []
    while at < len(data):
        message, at = wire.read_delimited(data, at)
        messages.append(message)
    made = classes()
    about = made["GlobalMetadata"].FromString(messages[0])
    assert about.version == "0.0.4"
    assert [(a.name, a.string_val) for a in about.attr] == [("stage", "0")]
    nodes = [made["Node"].FromString(message) for message in messages[1:]]
    assert [(n.id, n.name, n.type, list(n.data_deps), n.duration_micros) for n in nodes] == [
        (0, "0F0", 4, [], 300),
        (1, "send activation 0", 5, [0], 0),
        (2, "sum", 7, [0], 0),
    ]
    attributes = {a.name: a for a in nodes[1].attr}
    assert attributes["comm_size"].int64_val == 10**12
    assert [attributes[f"comm_{x}"].int32_val for x in ("src", "dst", "tag")] == [0, 1, 5]
    attributes = {a.name: a for a in nodes[2].attr}
    assert attributes["comm_size"].int64_val == 77
    assert attributes["pg_name"].string_val == "stage 0"
    assert {a.name: a for a in nodes[0].attr}["tensor_size"].uint64_val == 1
