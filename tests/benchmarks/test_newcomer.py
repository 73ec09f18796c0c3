"""Every step of the newcomer's hour is on its page; `python benchmarks/newcomer.py` does them."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "newcomer.py"


@pytest.fixture(scope="module")
def newcomer():
    spec = importlib.util.spec_from_file_location("newcomer", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["newcomer"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["newcomer"]


def test_the_pages_have_every_step(newcomer):
    for step in newcomer.STEPS:
        assert newcomer.block(step.page, step.run)[1].startswith(step.run)
        for _, page, begins in step.files:
            assert newcomer.block(page, begins)[1].startswith(begins)


def test_a_step_that_no_page_has_is_named(newcomer):
    with pytest.raises(LookupError, match=r"README\.md: no block begins with 'pip install gold'"):
        newcomer.block("README.md", "pip install gold")
