"""Names of the API in docstrings: a link where exactly one object is meant, code otherwise.

Sphinx searches all objects for every name and warns where several fit. Here they are looked up by
their last part, and a name that could mean several things is not a link. An object that `gadgetopt`
itself has is documented there, and meant there.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain


class Names(PythonDomain):
    """Python's domain with a look-up by the last part of a name."""

    _by_last: tuple[int, dict[str, list[str]]] = (-1, {})

    def _ending_in(self, name: str) -> list[str]:
        if self._by_last[0] != len(self.objects):
            index: dict[str, list[str]] = defaultdict(list)
            for full in self.objects:
                index[full.rpartition(".")[2]].append(full)
            self._by_last = (len(self.objects), index)
        found = self._by_last[1].get(name.rpartition(".")[2], [])
        return [full for full in found if full.endswith(f".{name}")]

    def find_obj(
        self,
        env: Any,
        modname: str,
        classname: str,
        name: str,
        type: str | None,  # noqa: A002
        searchmode: int = 0,
    ) -> list[tuple[str, Any]]:
        """Return the one object that a name means, or nothing."""
        exact = super().find_obj(env, modname, classname, name, type, 0)
        if exact or not searchmode:
            return exact
        name = name.removesuffix("()")
        found = self._ending_in(name)
        public = f"gadgetopt.{name}"
        meant = public if public in found else found[0] if len(found) == 1 else ""
        return [(meant, self.objects[meant])] if meant else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Use it."""
    app.add_domain(Names, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
