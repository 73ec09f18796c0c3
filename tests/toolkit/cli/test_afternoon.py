"""The page of an afternoon: its commands run, its table is the summary's, its LaTeX is sound."""

import re
import shlex
import shutil
import subprocess
import sys

import pytest


def blocks(path):
    text = path.read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def check_latex(text):
    """Refuse unbalanced braces and environments, rows of a wrong length, and bare special signs."""
    code = re.sub(r"(?<!\\)%.*", "", text)
    plain = re.sub(r"\\[{}]", "", code)
    assert plain.count("{") == plain.count("}")
    begun = re.findall(r"\\begin\{(\w+)\}", code)
    assert begun == re.findall(r"\\end\{(\w+)\}", code)[::-1] != []
    (columns,) = re.findall(r"\\begin\{tabularx\}\{\\textwidth\}\{(.*)\}\n", code)
    width = len(re.sub(r"@\{\}|>\{[^}]*\}", "", columns))
    body = code[code.index("\\toprule") : code.index("\\bottomrule")]
    assert "\\midrule" in body
    lines = [line for line in body.split("\n") if line.rstrip().endswith("\\\\")]
    assert len(lines) > 10
    for line in lines:
        spanned = re.findall(r"\\multicolumn\{(\d+)\}", line)
        cells = len(re.findall(r"(?<!\\)&", line)) + 1 + sum(int(n) - 1 for n in spanned)
        assert cells == width, line
        assert not re.search(r"(?<!\\)[#$%](?!<|>)", line.replace("$<$", "").replace("$>$", "")), (
            line
        )
        assert not re.search(r"(?<!\\)_", line), line


@pytest.mark.slow
def test_the_commands_of_the_page_give_its_tables_and_files(root, tmp_path, monkeypatch, cli):
    page = blocks(root / "docs" / "afternoon.md")
    (tmp_path / "mine.py").write_text(blocks(root / "docs" / "own_method.md")[0][1])
    (tmp_path / "instances").symlink_to(root / "instances")
    monkeypatch.chdir(tmp_path)
    printed = []
    for language, text in page:
        if language == "latex":
            row = text.strip().rpartition("&")[0]  # its last cell is a time
            assert row in (tmp_path / "table.tex").read_text()
        elif language == "python":
            done = subprocess.run(
                [sys.executable, "-c", text], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            printed = done.stdout.splitlines()
        elif text.startswith("gadgetopt "):
            for command in text.splitlines():
                code, out, err = cli(*shlex.split(command)[1:])
                assert code == 0, err
                printed = out.splitlines()
        else:
            # The last column of the summary is a time.
            shape = [re.sub(r"\s+<?[0-9.]+$", "", line.rstrip()) for line in printed]
            for line in text.splitlines():
                assert re.sub(r"\s+<?[0-9.]+$", "", line) in shape, line
    assert (tmp_path / "fig.pdf").read_bytes().startswith(b"%PDF")
    table = (tmp_path / "table.tex").read_text()
    check_latex(table)
    compiler = shutil.which("tectonic") or shutil.which("pdflatex")
    if compiler:
        preamble = "\\documentclass{article}\n\\usepackage{booktabs,tabularx}\n"
        document = f"{preamble}\\begin{{document}}\n{table}\n\\end{{document}}\n"
        (tmp_path / "paper.tex").write_text(document)
        done = subprocess.run(
            [compiler, "paper.tex"], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
        assert b"Overfull" not in done.stdout


def test_the_check_of_latex_finds_what_is_wrong():
    rows = "a & b \\\\\n" * 12
    good = (
        "\\begin{tabularx}{\\textwidth}{@{}Xr@{}}\n\\toprule\n\\midrule\n" + rows
        + "\\bottomrule\n\\end{tabularx}\n"
    )  # fmt: skip
    check_latex(good)
    for bad in (
        good.replace("a & b", "a & b & c", 1), good.replace("a & b", "a_b & c", 1),
        good.replace("a & b", "{a & b", 1), good.replace("\\end{tabularx}", ""),
        good.replace("a & b", "# & b", 1),
    ):  # fmt: skip
        with pytest.raises(AssertionError):
            check_latex(bad)
