"""The worst case drawn is the evaluator's, and more consistency costs robustness."""

from gadgetopt.models.adversarial_online.policy.pictures import frontier, worst
from gadgetopt.system.files import read_instance
from gadgetopt.trust.run import solve


def game(root, name):
    return read_instance(root / "instances" / "adversarial_online_policy" / "tiny" / name)


def test_the_worst_sequence_has_the_ratio_of_the_evaluator(root):
    document = game(root, "e1_one_unit.json")
    solution = solve(document, "minimax").solution
    figure = worst.draw(document.data, solution)
    assert "ratio 2," in figure.layout.title.text


def test_the_frontier_rises_to_the_spread(root):
    # All units kept for predicted buyers of 1: the optimum may be 4 each.
    points = frontier.draw(game(root, "e3_two_units.json").data).data[0]
    assert list(points.y) == sorted(points.y)
    assert (points.y[0], points.y[-1]) == (2, 4)
