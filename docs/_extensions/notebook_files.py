"""The notebooks as files that a notebook program opens, with the outputs of the site's own run."""

from __future__ import annotations

from pathlib import Path

from sources import DOCS


def link_to(text: str, name: str) -> str:
    """Return a notebook's page with a link to its file below the title."""
    title = next(line for line in text.splitlines() if line.startswith("# "))
    file = Path(name).with_suffix(".ipynb").name
    link = f'<p class="site-links"><a href="{file}" download>Download as {file}</a></p>'
    return text.replace(title, f"{title}\n\n{link}", 1)


def write_notebooks(out: Path, cached: Path) -> int:
    """Write every notebook beside its page, and return how many are without outputs.

    Parameters
    ----------
    out : Path
        Folder of the site.
    cached : Path
        Folder in which the build keeps the notebooks that it ran.
    """
    import jupytext
    from jupyter_cache import get_cache

    cache = get_cache(cached) if cached.is_dir() else None
    bare = 0
    for path in sorted((DOCS / "notebooks").glob("*.md")):
        notebook = jupytext.read(path)
        try:
            if cache is None:
                raise KeyError(path.name)
            _, notebook = cache.merge_match_into_notebook(notebook)
        except KeyError:
            bare += 1
        target = out / "notebooks" / path.with_suffix(".ipynb").name
        target.parent.mkdir(parents=True, exist_ok=True)
        jupytext.write(notebook, target, fmt="ipynb")
    return bare
