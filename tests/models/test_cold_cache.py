"""A method ends alike whether its inner loops are compiled on the way or read from their cache."""

import subprocess
import sys

import pytest

import gadgetopt
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.numbers.compiling import SAID

#: Ten times what the slowest of these runs takes, and less than compiling all loops of one takes
#: on a busy machine.
LIMIT_S = 6


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="loops are not compiled here")
def test_default_methods_end_alike_with_a_cold_and_a_warm_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))

    def ends(store):
        """Run the default methods of every system; return how each run ended, and what was said."""
        command = [*(sys.executable, "-m", "gadgetopt", "compare", "instances/quickstart")]
        asked = ["--no-details", "--time-limit", str(LIMIT_S), "--store", str(store)]
        done = subprocess.run([*command, *asked], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        results = [entry.result for entry in gadgetopt.ratios(store)]
        ended = {(r.instance, r.method, r.seed): (r.status, r.objective) for r in results}
        return ended, done.stderr

    cold, said = ends(tmp_path / "cold.sqlite")
    assert said.count(f"gadgetopt: {SAID}\n") <= 1  # small instances compile nothing
    # A loop that takes as long as its compiling is plain Python in one run and compiled in the
    # next, as the machine is busy; then the run after that reads it.
    for name in ("warm", "warmer"):
        warm, said = ends(tmp_path / f"{name}.sqlite")
        assert cold == warm
        if SAID not in said:
            break
    assert SAID not in said
