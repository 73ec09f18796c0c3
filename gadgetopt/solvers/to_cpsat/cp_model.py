"""CP-SAT's models (`ortools.sat.python.cp_model`), imported without pandas.

OR-Tools asks of arguments whether they are pandas' series or indices, and imports pandas for that,
which takes a third of a second and 60 MB of every process. An argument can be one only where pandas
has been imported already, so until then two empty classes answer in its place.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

#: What no argument is of.
_EMPTY = {"Index": type("Index", (), {}), "Series": type("Series", (), {})}


class _NotYetPandas(ModuleType):
    """Answers for pandas: by pandas itself once it is imported, before that by empty classes."""

    def __getattr__(self, name: str) -> Any:
        """Return a class of pandas."""
        pandas = sys.modules.get("pandas")
        if pandas is not None and pandas is not self:
            return getattr(pandas, name)
        if name in _EMPTY:
            return _EMPTY[name]
        raise AttributeError(f"pandas.{name} is not known before pandas is imported")


def _imported() -> Any:
    name = "ortools.sat.python.cp_model"
    if "pandas" in sys.modules or name in sys.modules:
        return importlib.import_module(name)
    sys.modules["pandas"] = _NotYetPandas("pandas")
    try:
        return importlib.import_module(name)
    finally:
        del sys.modules["pandas"]


cp_model: Any = _imported()
