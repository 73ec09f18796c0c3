"""`gadgetopt report`: a store of runs as one page that needs no network.

`reading` takes the runs out of the store; `summary` puts them into words; `distributions`,
`profiles`, `progress` and `columns` into figures, which are plain JSON until the browser draws them
(`figure`, `style`); `pictures` draws solutions; `table` holds the rows; `page` puts it all into one
file with the scripts and styles of `assets/`.
"""

from __future__ import annotations

from gadgetopt.reporting.html_report.page import write_report

__all__ = ["write_report"]
