"""Models built without Pyomo's word on interruptions: it reports them as errors of a component."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

from gadgetopt.system.declaration import Formulation

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


def built(formulation: Formulation, instance: Any) -> ConcreteModel:
    """Return the model of a formulation on an instance's data."""
    from pyomo.common.log import pyomo_handler

    pyomo_handler.addFilter(_is_news)  # again is once
    model: ConcreteModel = formulation.build(instance)
    return model


def _is_news(record: logging.LogRecord) -> bool:
    """Return False for what is said because Ctrl-C or an alarm passes through."""
    kind = sys.exc_info()[0]
    return kind is None or not issubclass(kind, KeyboardInterrupt)
