"""The page on a heuristic of one's own: its code and its commands run and give what it prints."""

import re
import shlex
import subprocess
import sys

import pytest


@pytest.fixture
def page(root, tmp_path, monkeypatch):
    """The blocks of the page, by language, in a folder that holds its files."""
    text = (root / "docs" / "own_method.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    (tmp_path / "mine.py").write_text(blocks[0][1])
    (tmp_path / "instances").symlink_to(root / "instances")
    monkeypatch.chdir(tmp_path)
    return blocks


def values(line):
    """Return the cells of a row of the ratio table, without its time."""
    return re.sub(r"<?[0-9.]+ s$", "", line.strip()).split()


def test_the_command_prints_the_table_of_the_page(page, cli):
    plain = [text for language, text in page if not language]
    command, table = plain[0], plain[1]
    assert command.startswith("gadgetopt compare ")
    code, out, _ = cli(*shlex.split(command)[1:])
    assert code == 0
    printed = [values(line) for line in out.splitlines()]
    for line in table.splitlines():
        assert values(line) in printed or "──" in line, line


def test_the_file_is_ten_lines(page):
    body = page[0][1].partition('"""\n')[2].splitlines()
    assert len(body) - 1 <= 11


def test_the_function_prints_what_the_page_says(page, tmp_path):
    (script,) = (t for language, t in page if language == "python" and "smallest_first" in t)
    (tmp_path / "own.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "own.py"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout == [text for language, text in page if not language][2], done.stderr
