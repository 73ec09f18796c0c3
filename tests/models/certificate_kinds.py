"""The kinds of certificates that a system declares, found by the fields of its `certificate_type`.

A kind is a record with its name (`Prices`), a value that a field names (`Formula.formula=srpt`), or
a field that may be missing (`SmdCertificate.further`).
"""

from typing import Annotated, Literal, get_args, get_origin

from gadgetopt.system.data import Data, LpDuals, ModelProof
from gadgetopt.system.declaration import resolved


def declared_kinds(system):
    """Return the kinds of a system's own certificates."""
    own = resolved(system.certificate_type)
    return set() if own is None else set(_kinds_of_type(own))


def shown_kinds(certificate):
    """Return the kinds that a certificate is of."""
    return set(_kinds_of_value(certificate))


def is_own(certificate):
    """Return True for a certificate of a system's own, not of a formulation's model."""
    return not isinstance(certificate, LpDuals | ModelProof)


def _kinds_of_type(record):
    yield record.__name__
    for name, field in record.model_fields.items():
        if _may_be_missing(field):
            yield f"{record.__name__}.{name}"
        for part in _parts(field.annotation):
            if isinstance(part, type) and issubclass(part, Data):
                yield from _kinds_of_type(part)
            elif get_origin(part) is Literal:
                values = get_args(part)
                # A single value is the name of the record.
                yield from (f"{record.__name__}.{name}={v}" for v in values if len(values) > 1)


def _kinds_of_value(record):
    yield type(record).__name__
    for name, field in type(record).model_fields.items():
        value = getattr(record, name)
        if value is None or value == ():
            continue
        if _may_be_missing(field):
            yield f"{type(record).__name__}.{name}"
        for part in _parts(field.annotation):
            if get_origin(part) is Literal and len(get_args(part)) > 1:
                yield f"{type(record).__name__}.{name}={value}"
        for inside in _records(value):
            yield from _kinds_of_value(inside)


def _may_be_missing(field):
    return not field.is_required() and field.get_default() in (None, ())


def _parts(annotation):
    """Yield the records, literals and plain types that an annotation is made of."""
    if get_origin(annotation) in (None, Literal):
        yield annotation
    elif get_origin(annotation) is Annotated:
        yield from _parts(get_args(annotation)[0])
    else:
        for part in get_args(annotation):
            yield from _parts(part)


def _records(value):
    if isinstance(value, Data):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _records(part)
    elif isinstance(value, dict):
        yield from _records(tuple(value.values()))
