"""Dask's log kept off the terminal."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator

#: Loggers that are silenced: a one-line message replaces their long ones.
_TALKATIVE = ("distributed", "tornado", "asyncio")


@contextlib.contextmanager
def quiet_dask() -> Iterator[None]:
    """Keep Dask's log off the terminal while a cluster is used, and as it closes."""
    import distributed  # noqa: F401  (it sets the levels of its loggers when it is imported)

    logging.getLogger("asyncio").addFilter(_is_news)
    names = [n for n in logging.root.manager.loggerDict if n.split(".")[0] in _TALKATIVE]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="distributed")
        try:
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)


def _is_news(record: logging.LogRecord) -> bool:
    """Return False for a timeout of Tornado that nobody waits for; it may follow the closing."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, TimeoutError) and str(error) == "Timeout")
