"""What a notebook, `print` and the prompt show of the toolkit's values.

markup     tables and figures as HTML that fits light and dark pages
values     line, text, numbers and picture of each type
overview   the numbers of any instance as one small figure
"""

from __future__ import annotations

from gadgetopt.reporting.views.values import display, line, numbers, page, picture, text

__all__ = ["display", "line", "numbers", "page", "picture", "text"]
