"""Make the font of the formulas: `python docs/_extensions/math_font.py STIXMath-Regular.otf`.

The site ships it, as a browser without a font for mathematics sets exponents and brackets badly.
It is STIX Math 1.1.1 (Debian: fonts-stix) with the characters that formulas use, under a name of
its own, as its licence asks of changed fonts: static/formulas-licence.txt. It stands in a style
sheet, as some browsers load no font for pages that were opened from a folder. Needs `pip install
fonttools brotli`.
"""

from __future__ import annotations

import base64
import io
import sys
from itertools import chain
from pathlib import Path
from typing import Any

SHEET = Path(__file__).parent / "static" / "formulas.css"
NAME = "Gadgetopt Formulas"
#: Latin, accents, Greek, punctuation, letterlike signs, arrows, operators, shapes, and the
#: alphabets of mathematics, which a browser takes for italics and script.
CHARACTERS = (
    (0x20, 0x7F), (0xA0, 0x100), (0x131, 0x133), (0x2C6, 0x2DE), (0x300, 0x340), (0x391, 0x3FF),
    (0x2010, 0x2060), (0x20D0, 0x20F0), (0x2100, 0x2150), (0x2190, 0x2400), (0x25A0, 0x2600),
    (0x27E0, 0x2800), (0x29E0, 0x2A20), (0x2A70, 0x2AD0), (0x1D400, 0x1D800),
)  # fmt: skip


def main(path: str) -> None:
    """Write static/formulas.css from the font's file."""
    from fontTools import subset

    options = subset.Options(flavor="woff2", layout_features=["*"], name_IDs=["*"])
    font: Any = subset.load_font(path, options)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=chain.from_iterable(range(*ends) for ends in CHARACTERS))
    chosen.subset(font)
    for entry in font["name"].names:
        if entry.nameID in (1, 4):
            entry.string = NAME
        elif entry.nameID in (3, 6):
            entry.string = NAME.replace(" ", "-")
    packed = io.BytesIO()
    subset.save_font(font, packed, options)
    data = base64.b64encode(packed.getvalue()).decode()
    SHEET.write_text(
        f"/* {NAME}, from STIX Math; licence: formulas-licence.txt; made by math_font.py */\n"
        f'@font-face {{ font-family: "{NAME}"; src: url(data:font/woff2;base64,{data}); }}\n'
        f'math {{ font-family: "{NAME}", math; }}\n'
    )


if __name__ == "__main__":
    main(sys.argv[1])
