"""Pictures of solutions, drawn for as many runs as fit into a size budget."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gadgetopt.errors import InputError
from gadgetopt.reporting.figures import drawn
from gadgetopt.reporting.html_report.reading import Line, System, solved
from gadgetopt.runs.store import Store
from gadgetopt.system.declaration import Picture
from gadgetopt.system.registry import problem

#: Called with the number of pictures drawn so far and the largest possible number.
Progress = Callable[[int, int], None]


@dataclass
class Album:
    """Packed pictures, and the picture of each run.

    Attributes
    ----------
    of_run : dict
        Number of the picture by the run's key; equal solutions share one.
    missing : dict
        Why a picture could not be drawn, by the run's key.
    """

    packed: list[str] = field(default_factory=list)
    of_run: dict[str, int] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def characters(self) -> int:
        """Size of the pictures in the page."""
        return sum(len(text) for text in self.packed)


def packed(value: object) -> str:
    """Return JSON as gzip in base64, which the browser unpacks on demand."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def draw(
    store: Store,
    systems: Sequence[System],
    most: int,
    most_characters: int,
    progress: Progress | None = None,
) -> Album:
    """Draw the solutions of the most informative runs.

    Parameters
    ----------
    most, most_characters : int
        Pictures and characters in the page after which no more are drawn.
    """
    album, known = Album(), dict[str, int | None]()
    wanted = [
        line
        for line in ranked([line for system in systems for line in system.lines])
        if picture_of(line.entry.result.problem) is not None
    ]
    goal = min(most, len({line.solution_id for line in wanted}))
    for line in wanted:
        same = line.solution_id or ""
        if same not in known:
            if len(album.packed) >= most or album.characters >= most_characters:
                continue
            known[same] = _add(album, store, line)
            if progress is not None:
                progress(len(album.packed), goal)
        number = known[same]
        if number is not None:
            album.of_run[line.key] = number
    return album


def ranked(lines: Sequence[Line]) -> list[Line]:
    """Return the runs with a solution, most informative first.

    First each method's worst ratio, then each method's second worst, and so on.
    """
    by_method: defaultdict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in lines:
        if line.solution_id is not None and line.entry.result.objective is not None:
            by_method[line.entry.result.problem, line.label].append(line)
    places = []
    for order, group in enumerate(by_method.values()):
        group.sort(key=lambda line: -_badness(line))
        places += [(place, order, line) for place, line in enumerate(group)]
    return [line for _, _, line in sorted(places, key=lambda entry: entry[:2])]


def picture_of(system: str) -> Picture | None:
    """Return the first picture that a system declares for solutions."""
    return next((p for p in problem(system).pictures if p.of == "solution"), None)


def _badness(line: Line) -> float:
    return math.inf if line.low is None else line.low


def _add(album: Album, store: Store, line: Line) -> int | None:
    import plotly.io

    picture = picture_of(line.entry.result.problem)
    assert picture is not None
    template = plotly.io.templates.default
    # The page has its own template; plotly's would take most of the time and bytes.
    plotly.io.templates.default = None
    try:
        instance, solution = solved(store, line.key)
        figure = json.loads(drawn(instance.problem, picture, instance.data, solution).to_json())
    except InputError as error:
        album.missing[line.key] = str(error)
        return None
    except Exception as error:  # a picture that fails is left out, nothing else
        album.missing[line.key] = f"{picture.name}: {type(error).__name__}: {error}"
        return None
    finally:
        plotly.io.templates.default = template
    figure["layout"].pop("template", None)
    album.packed.append(packed({"data": figure["data"], "layout": figure["layout"]}))
    return len(album.packed) - 1
