"""Functions of methods called as the toolkit calls them."""

import inspect

from gadgetopt.system.references import Adapted


def called(function, instance, limits, rng, **parameters):
    """Call a function with those of limits and seed that it takes."""
    takes = {
        bare: name
        for name in inspect.signature(function).parameters
        if (bare := name.lstrip("_")) in ("limits", "rng")
    }
    return Adapted(function, takes)(instance, limits, rng, **parameters)
