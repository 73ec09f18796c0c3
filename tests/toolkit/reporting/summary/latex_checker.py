r"""A strict reader of the LaTeX that summaries write: what it does not know is an error.

It stands in for TeX where there is none: environments are nested and closed, braces match, every
row of a table has as many cells as its columns, special characters are escaped, and the text of a
table fits its width.
"""

import re

COMMANDS = {
    "addlinespace", "allowbreak", "arraybackslash", "begin", "bottomrule", "caption", "centering",
    "cmidrule", "end", "footnotesize", "label", "midrule", "multicolumn", "quad", "raggedright",
    "setlength",
    "tabcolsep", "textbackslash", "textasciitilde", "textasciicircum", "texttt", "textwidth",
    "toprule",
}  # fmt: skip
PACKAGES = {
    "toprule": "booktabs",
    "cmidrule": "booktabs",
    "addlinespace": "booktabs",
    "tabularx": "tabularx",
}

#: Computer Modern at 8 pt, in points, from its font metrics; letters by class.
DIGIT, CODE = 4.25, 4.25
WIDE, NARROW = 7.3, 2.6


def check(text):
    """Raise an AssertionError for anything that TeX would refuse or set badly."""
    comments = [line for line in text.splitlines() if line.startswith("%")]
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert not re.search(r"(?<!\\)[#~^_]", body), "an unescaped special character"
    assert not re.search(r"(?<!\\)%", body), "a comment inside a line"
    for command in re.findall(r"\\([A-Za-z]+)", body):
        assert command in COMMANDS, f"\\{command} is not known"
        package = PACKAGES.get(command)
        assert package is None or any(package in line for line in comments)
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", body):
        depth += 1 if brace == "{" else -1
        assert depth >= 0, "a brace too many"
    assert depth == 0, "an open brace"
    assert len(re.findall(r"(?<!\\)\$", body)) % 2 == 0, "open mathematics"
    open_ = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", body):
        if what == "begin":
            open_.append(name)
        else:
            assert open_.pop() == name, f"{name} ends inside another environment"
    assert not open_, f"{open_} is open"
    assert body.index("\\caption") < body.index("\\label") < body.index("\\begin{tabularx}")
    head, rest = body.split(r"\begin{tabularx}{\textwidth}", 1)
    assert "\\begin{table}" in head
    _check_table(rest.split(r"\end{tabularx}")[0])


def _check_table(text):
    first, *lines = text.strip().splitlines()
    columns = re.fullmatch(r"\{@\{\}>\{\\raggedright\\arraybackslash\}X(r+)@\{\}\}", first)
    assert columns, first
    count = 1 + len(columns[1])
    rows = []
    for line in lines:
        if re.fullmatch(r"\\(toprule|midrule|bottomrule|addlinespace)", line):
            continue
        rule = re.fullmatch(r"\\cmidrule\(lr\)\{(\d+)-(\d+)\}", line)
        if rule:
            assert 1 < int(rule[1]) < int(rule[2]) <= count
            continue
        assert line.endswith(r" \\"), line
        spanning = re.fullmatch(r"\\multicolumn\{(\d+)\}\{@\{\}l\}\{(.*)\} \\\\", line)
        if spanning:
            assert int(spanning[1]) == count
            continue
        cells = [
            part
            for cell in re.split(r"(?<!\\)&", line.removesuffix(r"\\"))
            for part in _parts(cell.strip())
        ]
        assert len(cells) == count, f"{len(cells)} cells of {count}: {line}"
        rows.append([cell.strip() for cell in cells])
    widths = [max(map(points, column)) for column in list(zip(*rows, strict=True))[1:]]
    words = [c for row in rows for c in row[0].removeprefix(r"\quad ").split(r"\allowbreak{}")]
    first_column = 8.0 + max(map(points, words))
    total = first_column + sum(widths) + 2 * 2.5 * len(widths)
    assert total <= 345.0, f"about {total:.0f} pt wide, which is more than the text"


def _parts(cell):
    """Return a cell, or as many as a head spans, with its text in equal parts."""
    spanning = re.fullmatch(r"\\multicolumn\{(\d+)\}\{c\}\{(.*)\}", cell)
    if not spanning:
        return [cell]
    count = int(spanning[1])
    assert count > 1
    return [spanning[2][k::count] for k in range(count)]


def points(cell):
    """Return about how wide a cell is, never much less."""
    plain = re.sub(r"\\textasciitilde\{\}|\\textasciicircum\{\}|\\textbackslash\{\}", "x", cell)
    code = r"\texttt" in plain
    plain = re.sub(r"\\texttt|\\quad|\\allowbreak|(?<!\\)[{}$]", "", plain).replace("--", "-")
    plain = re.sub(r"\\(.)", r"\1", plain)
    if code:
        return CODE * len(plain)
    return sum(WIDE if c in "mwMW%<>" else NARROW if c in ".,:;il " else DIGIT for c in plain)
