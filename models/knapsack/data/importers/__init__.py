"""Instances from public benchmark files.

- `formats`: the importers
- `reading`: the files of OR-Library and of Khan
- `tokens`: numbers read word by word, with errors that name the line
"""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)
chosen_problems: dict[str, str] = {
    "problems": "numbers from 0 or names with *, separated by commas; empty: all"
}

IMPORTERS = (
    Importer(
        "orlib-mknap",
        summary="OR-Library's files mknap1, mknap2 and mknapcb1 to mknapcb9",
        read=part("formats:orlib_mknap"),
        parameters={"problems": ""},
        help=chosen_problems,
    ),
    Importer(
        "mmkp",
        summary="Khan's multiple-choice knapsacks I01 to I13",
        read=part("formats:mmkp"),
        parameters={"problems": ""},
        help=chosen_problems,
    ),
)
