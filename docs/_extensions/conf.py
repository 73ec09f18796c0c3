"""Settings of the site. `docs/build.py` composes its sources and calls Sphinx with this file."""

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import gadgetopt  # noqa: E402

project = "gadgetopt"
author = "The gadgetopt developers"
copyright = "the gadgetopt developers, MIT licence"  # noqa: A001
release = version = gadgetopt.__version__
language = "en"
smartquotes = False  # two hyphens before an option stay two hyphens

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
    "docstrings",
    "python_names",
    "paper_and_code",
    "offline_plots",
]
nitpicky = False  # types of signatures are many and not all of them are documented objects
suppress_warnings = [
    # Pages name languages that Pygments does not know by no name at all.
    "misc.highlighting_failure",
]

# Markdown: the pages are read on a code host as well, so only what such a host shows.
myst_enable_extensions = [
    "dollarmath",
    "amsmath",
    "deflist",
    "attrs_block",
    "attrs_inline",
    "colon_fence",
]
myst_dmath_double_inline = True
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Notebooks run when the site is built; what has not changed is taken from the cache.
nb_execution_mode = "cache"
# Seconds for a cell: a first run compiles inner loops, and the machine may be busy.
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_execution_show_tb = True

# The API from the docstrings.
default_role = "py:obj"  # `name` is code, and a link where there is something of that name
# An extra that the site does not need; its modules are described all the same.
autodoc_mock_imports = ["pyscipopt"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = False  # it parses a module for every function of it
autodoc_use_type_comments = False  # so do these
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_rtype = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries = False

html_theme = "furo"
html_title = "gadgetopt"
html_static_path = [str(HERE / "static")]
html_css_files = ["formulas.css", "site.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
# Excerpts of hits would have to be fetched, which a browser refuses on pages opened from a folder.
html_show_search_summary = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b5a7a",
        "color-brand-content": "#0b5a7a",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
    },
    "dark_css_variables": {"color-brand-primary": "#7cc4e0", "color-brand-content": "#7cc4e0"},
    "footer_icons": [],
}
pygments_style = "friendly"
pygments_dark_style = "monokai"
exclude_patterns = []
templates_path = []
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: Any) -> None:
    """Spread the notebooks over what processes read."""
    app.connect("env-before-read-docs", _spread)


def _spread(app: Any, env: Any, names: list[str]) -> None:
    """Order pages so that notebooks lie evenly among them.

    A process reads some fifty neighbours one after another: all notebooks would be one's.
    """
    notebooks = [name for name in names if name.startswith("notebooks/")]
    others = [name for name in names if not name.startswith("notebooks/")]
    places = {name: k / len(group) for group in (notebooks, others) for k, name in enumerate(group)}
    names.sort(key=places.__getitem__)
