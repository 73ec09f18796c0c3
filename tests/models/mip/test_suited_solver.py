"""The default method of any model chooses a solver by what the columns and rows are."""

import pytest

import gadgetopt

KNAPSACK = """Maximize
 profit: 5 a + 4 b + 3 c + 7 d
Subject To
 weight: 2 a + 3 b + c + 4 d <= 6
 room: 4 a + b + 2 c + 3 d <= 7
{more}
{kinds}
End
"""
MODELS = {
    "knapsacks": ("", "Binary\n a b c d", "cpsat"),
    "a_choice": (" one: a + b <= 1", "Binary\n a b c d", "highs"),
    "signs": (" order: a - b <= 0", "Binary\n a b c d", "highs"),
    "continuous": ("", "Bounds\n d <= 1\nBinary\n a b c", "highs"),
    "integers": ("", "Bounds\n d <= 2\nBinary\n a b c\nGeneral\n d", "highs"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_solver_is_chosen_by_structure_and_the_optimum_is_verified(name, tmp_path):
    more, kinds, solver = MODELS[name]
    file = tmp_path / f"{name}.lp"
    file.write_text(KNAPSACK.format(more=more, kinds=kinds))
    result = gadgetopt.solve(file, certify="5")
    assert result.notes["solver"] == solver
    assert result.bound_voucher.value == "verified"
    assert result.objective == result.bound


def test_a_single_knapsack_is_left_to_highs(tmp_path):
    file = tmp_path / "one.lp"
    rows = KNAPSACK.format(more="", kinds="Binary\n a b c d")
    file.write_text("".join(line + "\n" for line in rows.splitlines() if " room:" not in line))
    assert gadgetopt.solve(file).notes["solver"] == "highs"
