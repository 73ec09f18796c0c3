"""The worst sequence is drawn with its ratio, and with whom the optimum serves."""

from gadgetopt.models.adversarial_online.sequence.instance import (
    AdversarialOnlineSequenceSolution,
)
from gadgetopt.models.adversarial_online.sequence.pictures.arrivals import draw
from gadgetopt.system.files import read_instance


def test_served_and_refused_add_up_to_the_values(root):
    path = root / "instances" / "adversarial_online_sequence" / "tiny" / "e4_two_units.json"
    figure = draw(
        read_instance(path).data, AdversarialOnlineSequenceSolution(arrivals=(0, 1, 2, 2))
    )
    served, refused, price, best = figure.data
    assert [a + b for a, b in zip(served.y, refused.y, strict=True)] == [1, 2, 4, 4]
    assert list(price.y)[:2] == [1, 1.5616]
    assert list(best.x) == [3, 4]
    assert "2.66667 times" in figure.layout.title.text
